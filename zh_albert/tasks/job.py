"""What all fine-tuning shares: examples and an encoder in, a model folder out.

A task brings its model, its loss and its evaluation (``Trainee``); the run, its files, the choice
of the best weights and the model card's metadata are the same for all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from torch import Tensor, nn

from zh_albert.checkpoints.pretrained_encoder import with_layers
from zh_albert.checkpoints.store import load_config
from zh_albert.checkpoints.tokenizers import matching_tokenizer
from zh_albert.configio import write_toml
from zh_albert.errors import ConfigError, nearest
from zh_albert.hardware import is_bf16_faster
from zh_albert.model.config import PRESETS, AlbertConfig
from zh_albert.runtimes.runtime import TorchRuntime
from zh_albert.runtimes.selection import Runtimes
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import Tokenizer, default_tokenizer
from zh_albert.training.config import TrainConfig
from zh_albert.training.events import ChanceWatch, Event, Observer, Warned
from zh_albert.training.loop import (
    BatchSource,
    BestCheckpoint,
    Objective,
    is_first_process,
    resolved,
    train,
)
from zh_albert.training.resume import RunState
from zh_albert.training.run_folder import open_run, run_observers, state_folder
from zh_albert.training.stages import watched

Losses = Callable[[Tensor, dict[str, Tensor]], Tensor]
"""Logits and a batch → the loss of each example."""


@dataclass(frozen=True, kw_only=True)
class NetworkConfig:
    """The network around (or in place of) a trained encoder."""

    preset: str = "tiny"  # size of the encoder where no trained one is given
    dropout: float | None = None  # in the encoder; None keeps what its config says
    layers: int | None = None  # that are taken of the encoder's, evenly; None: all

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise ConfigError(f"unknown preset {self.preset!r}; {nearest(self.preset, PRESETS)}")


@dataclass(frozen=True, kw_only=True)
class CardConfig:
    """What the model card says of the data; the files alone cannot tell."""

    trained_on: str = ""
    licence: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class JobConfig:
    """Everything that decides a fine-tuning run, but the data and the encoder it starts from."""

    model: NetworkConfig = field(default_factory=NetworkConfig)
    window: WindowConfig = field(default_factory=WindowConfig)
    # Small batches: a few thousand texts make a few hundred updates.
    train: TrainConfig = field(
        default_factory=lambda: TrainConfig(epochs="auto", peak_lr=2e-4, batch_tokens=1024)
    )
    card: CardConfig = field(default_factory=CardConfig)
    tensorboard: bool = False  # also write training/tensorboard (extra "track")


class TaskModel(Protocol):
    """Tokenizer, network and what its outputs stand for, as one thing that has a folder."""

    metadata: dict[str, Any]
    runtimes: Runtimes

    @property
    def module(self) -> nn.Module:
        """The network."""
        ...

    def save(self, folder: Path, *, card: str) -> None:
        """Write the model folder."""
        ...


M = TypeVar("M", bound=TaskModel)


class TrainingData(NamedTuple):
    """What a model is taught with."""

    source: BatchSource
    """Batches for the objective."""
    chance_loss: float | None
    """The loss of guessing, see ``ChanceWatch``; None: it is not watched."""


@dataclass(frozen=True, kw_only=True)
class Trainee(Generic[M]):
    """What a task brings to a run.

    Attributes:
        model: Untrained.
        data: Encodes the training examples, and tells the observer what it had to change; called
            once, and not for a run that is finished.
        objective: See ``training.loop.Objective``.
        evaluate: Scores the model on the dev examples; None if there are none. Numbers are
            logged, all of it ends up in the metadata.
        metric: The score that chooses the best weights.
        card: Settings → the model card.
        reopen: Opens the folder that ``model.save`` wrote.
        metadata: What the model card and ``zh-albert models`` tell besides.
        settings: What else a resumed run must not change; lines of TOML.
    """

    model: M
    data: Callable[[Observer], TrainingData]
    objective: Objective
    evaluate: Callable[[], Mapping[str, Any]] | None
    metric: str
    card: Callable[[str], str]
    reopen: Callable[[Path], M]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    settings: str = ""


def starting_point(network: NetworkConfig, init: Path | None) -> tuple[AlbertConfig, Tokenizer]:
    """Return the sizes and the tokenizer of a model that starts from ``init``.

    Args:
        network: See there.
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
    if network.layers is not None:
        sizes = with_layers(sizes, network.layers)
    if (dropout := network.dropout) is not None:
        sizes = replace(sizes, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    return sizes, tokenizer


def finetune_model(
    trainee: Trainee[M],
    config: JobConfig,
    *,
    examples: Sequence[Any],
    dev: Sequence[Any],
    init: Path | None,
    out: Path | None,
    resume: bool,
    observers: Sequence[Observer],
) -> tuple[M, RunState]:
    """Run a job; the arguments are those of the tasks' own ``finetune``.

    Returns:
        The model with its best weights, and where the run ended (best dev metrics, seconds).

    Raises:
        ConfigError: If ``out`` holds a run already and ``resume`` is not given.
    """
    model = trainee.model
    model.metadata = {
        **{key: value for key, value in asdict(config.card).items() if value},
        "init": init.name if init else "random weights",
        "train_examples": len(examples),
        "dev_examples": len(dev),
        **trainee.metadata,
    }
    # Data and encoder belong to what a resumed run must not change.
    settings = f"{write_toml(config)}\n# init {init}\n# examples {_digest(examples)}\n"
    settings += f"# dev {_digest(dev)}\n"
    settings += trainee.settings
    listeners = list(observers)
    if out:
        position = open_run(out, settings, resume=resume)
        if position.finished:
            return trainee.reopen(out), position
        listeners += run_observers(out, position, tensorboard=config.tensorboard)

    def progress(event: Event) -> None:
        if is_first_process():
            for listener in listeners:
                listener(event)

    if init and (told := _beyond_training(init, config.window)):
        progress(Warned(update=0, text=told))
    source, chance_loss = trainee.data(progress)
    used = replace(config, train=resolved(config.train, source))
    watches = []
    if chance_loss is not None:
        watches.append(ChanceWatch(chance_loss, config.train.peak_lr, progress))
    scores: dict[str, Any] = {}
    best: dict[str, Tensor] = {}

    def assess() -> dict[str, float]:
        assert trainee.evaluate is not None
        exact = model.runtimes
        chosen = exact
        if used.train.precision == "bf16" and is_bf16_faster():
            # What chooses weights need not be more exact than what makes them.
            chosen = Runtimes(partial(TorchRuntime, model.module, "bf16"))
        model.runtimes = watched(chosen, "tokens of dev", progress)
        try:
            scores.update(trainee.evaluate())
        finally:
            model.runtimes = exact
        return {name: score for name, score in scores.items() if isinstance(score, int | float)}

    def keep(_: Mapping[str, float]) -> None:
        if out:
            model.metadata |= _told(scores)
            model.save(out, card=trainee.card(write_toml(used)))
        elif trainee.evaluate:
            best.update({n: value.clone() for n, value in model.module.state_dict().items()})

    position = train(
        model.module,
        trainee.objective,
        source,
        used.train,
        state_folder=state_folder(out) if out else None,
        settings=settings,
        resume=resume,
        selection=BestCheckpoint(
            assess if trainee.evaluate else None, metric=trainee.metric, keep=keep
        ),
        observers=[*listeners, *watches],
    )
    if best:
        model.module.load_state_dict(best)
        assess()  # chooses again what is decided on dev: thresholds, what n-grams weigh
    # Every process has trained the same weights, but only the first has kept the best ones.
    return (trainee.reopen(out) if out and is_first_process() else model), position


def _beyond_training(init: Path, window: WindowConfig) -> str:
    """Say so if windows are longer than what the encoder was trained on; empty if not."""
    longest = load_config(init)[1].get("max_length", window.max_length)
    if window.max_length <= longest:
        return ""
    return (
        f"{init} was trained on windows of {longest} tokens and knows no position beyond: "
        f"window.max_length={window.max_length} will read worse than {longest}"
    )


def _told(scores: Mapping[str, Any]) -> dict[str, Any]:
    """What a model folder tells of its scores: under ``dev`` those of the whole, then the rest."""
    numbers = {n: s for n, s in scores.items() if isinstance(s, float) and n != "seconds"}
    parts = {name: score for name, score in scores.items() if not isinstance(score, int | float)}
    return {"dev": {name: round(score, 4) for name, score in numbers.items()}, **parts}


def _digest(examples: Sequence[Any]) -> str:
    digest = hashlib.sha256()
    for example in examples:
        values = {f.name: getattr(example, f.name) for f in fields(example) if f.compare}
        digest.update(json.dumps(values, default=astuple).encode())
    return f"{len(examples)} sha256 {digest.hexdigest()[:16]}"
