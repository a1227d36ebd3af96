"""Settings shared by the fine-tuning jobs of all tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from zh_albert.checkpoints.pretrained_encoder import with_layers
from zh_albert.checkpoints.store import load_config
from zh_albert.checkpoints.tokenizers import matching_tokenizer
from zh_albert.distillation.booster import BoosterConfig
from zh_albert.distillation.match_terms import MatchTerm
from zh_albert.distillation.methods import MethodsConfig
from zh_albert.distillation.soft_targets import TeacherConfig
from zh_albert.errors import ConfigError, nearest
from zh_albert.model.config import PRESETS, AlbertConfig
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import Tokenizer, default_tokenizer
from zh_albert.training.config import TrainConfig


@dataclass(frozen=True, kw_only=True)
class NetworkConfig:
    """The network around (or in place of) a trained encoder."""

    preset: str = "tiny"  # size of the encoder where no trained one is given
    dropout: float | None = None  # in the encoder; None keeps the value of its config
    layers: int | None = None  # number of encoder layers kept, evenly spaced; None: all
    # Read traditional characters as simplified ones; false: as the encoder's folder says.
    simplify: bool = False

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise ConfigError(f"unknown preset {self.preset!r}; {nearest(self.preset, PRESETS)}")
        if self.dropout is not None and not 0 <= self.dropout < 1:
            raise ConfigError(f"model.dropout must be in [0, 1), got {self.dropout}")


@dataclass(frozen=True, kw_only=True)
class CardConfig:
    """Information about the data for the model card that the files do not contain."""

    trained_on: str = ""
    licence: str = ""
    # Whether the data may be used commercially, as far as their sources say; "": they do not.
    commercial_use: Literal["", "yes", "no"] = ""
    note: str = ""
    init: str = ""  # what the model began as; empty: the folder's name
    # Chinese names of labels, for people who read the answers: {news_car = "汽车"}.
    label_zh: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class JobConfig(MethodsConfig):
    """All settings of a fine-tuning run except the data and the encoder it starts from."""

    model: NetworkConfig = field(default_factory=NetworkConfig)
    window: WindowConfig = field(default_factory=WindowConfig)
    # Small batches: a few thousand texts make a few hundred updates.
    train: TrainConfig = field(
        default_factory=lambda: TrainConfig(epochs="auto", peak_lr=2e-4, batch_tokens=1024)
    )
    card: CardConfig = field(default_factory=CardConfig)
    # The score on dev that chooses the best weights; None: the first that the task has.
    metric: str | None = None
    tensorboard: bool = False  # also write training/tensorboard (extra "track")
    teacher: TeacherConfig | None = None
    match: tuple[MatchTerm, ...] = ()  # what of the teacher's insides is matched besides
    match_only: bool = False  # neither labels nor answers are learned, only what is matched
    booster: BoosterConfig | None = None  # the teacher learns along and shares layers
    keep_route: bool = False  # keep the weights of every evaluation, in OUT/route

    def __post_init__(self) -> None:
        if (self.match or self.booster) and self.teacher is None:
            raise ConfigError("match and booster need a teacher: set teacher.model")
        besides = self.match or self.booster or self.replace
        if self.teacher and not (self.teacher.weight or self.teacher.states or besides):
            raise ConfigError("teacher.weight must be above 0: nothing is learned from the teacher")
        if self.match_only and not self.match:
            raise ConfigError("match_only learns nothing but what is matched: give match terms")
        self.refuse_changing_layers(self.terms())
        if self.match and self.booster:
            raise ConfigError("match and booster do not go together: give one of them")
        if self.gates and self.booster:  # both networks' losses would have the price of the gates
            raise ConfigError("gates and booster do not go together: give one of them")

    def terms(self) -> tuple[MatchTerm, ...]:
        """Return all match terms, that of ``teacher.states`` first."""
        if self.teacher and self.teacher.states:
            return (MatchTerm(what="states", weight=self.teacher.states), *self.match)
        return self.match


def starting_point(network: NetworkConfig, init: Path | None) -> tuple[AlbertConfig, Tokenizer]:
    """Return the sizes and the tokenizer of a model that starts from ``init``.

    Args:
        network: Its settings.
        init: A folder with an encoder to start from; its tokenizer comes with it. None: random
            weights of ``network.preset`` over this project's vocabulary.
    """
    tokenizer: Tokenizer
    if init is None:
        tokenizer = default_tokenizer()
        sizes = replace(PRESETS[network.preset], vocab_size=tokenizer.vocab_size)
    else:
        sizes, _ = load_config(init)
        tokenizer = matching_tokenizer(init, sizes)
    if network.simplify:
        tokenizer = tokenizer.simplifying()
    if network.layers is not None:
        sizes = with_layers(sizes, network.layers)
    if (dropout := network.dropout) is not None:
        sizes = replace(sizes, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    return sizes, tokenizer
