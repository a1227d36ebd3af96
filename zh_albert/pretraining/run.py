"""The pretraining job: trains an encoder on masked LM and sentence order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from zh_albert.checkpoints.resolve import expanded
from zh_albert.checkpoints.store import load_config, load_weights
from zh_albert.checkpoints.stored_model import BESIDE_MASKED_LM
from zh_albert.errors import ConfigError, nearest
from zh_albert.model.config import PRESETS, AlbertConfig, Sharing
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.pretraining.cooccurrence import count_cooccurrences
from zh_albert.pretraining.job import (
    Corpus,
    EncoderJobConfig,
    EncoderJobSpec,
    refuse_other_vocabulary,
    refuse_too_long,
    train_encoder,
)
from zh_albert.pretraining.objective import pretraining_loss
from zh_albert.pretraining.shards import Shards
from zh_albert.pretraining.start import StatisticsConfig, initialize_from_statistics
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.training.events import Observer
from zh_albert.training.resume import RunState, seed_torch

_COMPUTED = ("random", "statistics")  # any other start is a folder


@dataclass(frozen=True, kw_only=True)
class EncoderConfig:
    """A published size and the fields that differ from it; a folder to start from has its own."""

    preset: str = "tiny"
    embedding_size: int | None = None
    hidden_size: int | None = None
    intermediate_size: int | None = None
    num_attention_heads: int | None = None
    num_hidden_layers: int | None = None
    num_hidden_groups: int | None = None
    sharing: Sharing | None = None

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise ConfigError(f"unknown preset {self.preset!r}; {nearest(self.preset, PRESETS)}")

    def sizes(self, vocab_size: int) -> AlbertConfig:
        """Return the whole config for a vocabulary."""
        given = {k: v for k, v in vars(self).items() if k != "preset" and v is not None}
        return replace(PRESETS[self.preset], vocab_size=vocab_size, **given)

    def refuse_other(self, folder: Path, sizes: AlbertConfig) -> None:
        """Check that the encoder in a folder has these sizes, where any are given.

        Raises:
            ConfigError: With the first size that it does not have.
        """
        if self == EncoderConfig():
            return
        wanted = self.sizes(sizes.vocab_size)
        for name in (one.name for one in fields(self) if one.name != "preset"):
            asked, found = getattr(wanted, name), getattr(sizes, name)
            if asked != found:
                raise ConfigError(
                    f"encoder.{name} would be {asked!r}, but start.from = {str(folder)!r} has "
                    f"{found!r}, and keeps its sizes: leave [encoder] out"
                )


@dataclass(frozen=True, kw_only=True)
class StartConfig:
    """Initial weights: ``random``, ``statistics``, or a model folder to continue from."""

    from_: str = "statistics"
    statistics: StatisticsConfig = field(default_factory=StatisticsConfig)

    def __post_init__(self) -> None:
        if self.from_ != "statistics" and self.statistics != StatisticsConfig():
            raise ConfigError(
                'start.statistics is for start.from = "statistics", found '
                f"start.from = {self.from_!r}: leave one of them out"
            )


@dataclass(frozen=True, kw_only=True)
class PretrainConfig(EncoderJobConfig):
    """Settings of a pretraining run."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    start: StartConfig = field(default_factory=StartConfig)


def build_model(
    config: PretrainConfig, tokenizer: Tokenizer, shards: Shards
) -> AlbertForPretraining:
    """Return the model with its initial weights.

    Raises:
        CheckpointError: If the folder to continue from cannot be opened.
        ConfigError: If the initialization does not fit the encoder.
    """
    seed_torch(config.train.seed, 0, 0)
    start = config.start.from_
    if start in _COMPUTED:
        sizes = config.encoder.sizes(tokenizer.vocab_size)
        refuse_too_long(sizes, config.instances)
        model = AlbertForPretraining(sizes)
        if start == "statistics":
            counts = count_cooccurrences(shards.each_document(), tokenizer.vocab_size)
            special = list(tokenizer.special)
            initialize_from_statistics(
                model, counts, special, config.start.statistics, seed=config.train.seed
            )
        return model
    folder = expanded(start)
    sizes, _ = load_config(folder)
    refuse_other_vocabulary(folder, sizes, tokenizer)
    refuse_too_long(sizes, config.instances)
    config.encoder.refuse_other(folder, sizes)
    model = AlbertForPretraining(sizes)
    # Encoders saved by other libraries may lack sentence order; it is then learned from scratch.
    load_weights(model, folder, optional=BESIDE_MASKED_LM)
    return model


def pretrain(
    config: PretrainConfig, *, resume: bool = False, observers: Sequence[Observer] = ()
) -> RunState:
    """Run the job; see ``job.train_encoder``."""

    def build(corpus: Corpus) -> EncoderJobSpec:
        model = build_model(config, corpus.tokenizer, corpus.shards)
        return EncoderJobSpec(model, model, pretraining_loss)

    start = config.start.from_
    folders = [] if start in _COMPUTED else [expanded(start)]
    return train_encoder(config, build, init_folders=folders, resume=resume, observers=observers)
