"""The pretraining job: an encoder learns masked LM and sentence order from a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from zh_albert.checkpoints.store import load_config, load_weights
from zh_albert.checkpoints.stored_model import BESIDE_MASKED_LM
from zh_albert.errors import ConfigError, nearest
from zh_albert.model.config import PRESETS, AlbertConfig, Sharing
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.pretraining.cooccurrence import count_cooccurrences
from zh_albert.pretraining.job import (
    Corpus,
    EncoderJobConfig,
    EncoderTrainee,
    refuse_other_vocabulary,
    refuse_too_long,
    train_encoder,
)
from zh_albert.pretraining.objective import pretraining_loss
from zh_albert.pretraining.shards import Shards
from zh_albert.pretraining.start import StartConfig, start_from_statistics
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.training.events import Observer
from zh_albert.training.resume import RunState, seed_torch

_MADE_HERE = ("random", "statistics")  # every other start is a folder


@dataclass(frozen=True, kw_only=True)
class EncoderConfig:
    """A published size, and what differs from it; not used where the start is a folder."""

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
        """Return the whole config over a vocabulary."""
        given = {k: v for k, v in vars(self).items() if k != "preset" and v is not None}
        return replace(PRESETS[self.preset], vocab_size=vocab_size, **given)


@dataclass(frozen=True, kw_only=True)
class BeginConfig:
    """Where the weights come from: ``random``, ``statistics``, or a folder to go on from."""

    from_: str = "statistics"
    statistics: StartConfig = field(default_factory=StartConfig)


@dataclass(frozen=True, kw_only=True)
class PretrainConfig(EncoderJobConfig):
    """Everything that decides a pretraining run."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    start: BeginConfig = field(default_factory=BeginConfig)


def build_model(
    config: PretrainConfig, tokenizer: Tokenizer, shards: Shards
) -> AlbertForPretraining:
    """Make the model a run begins with.

    Raises:
        CheckpointError: If the folder to go on from cannot be opened.
        ConfigError: If the start does not fit the encoder.
    """
    seed_torch(config.train.seed, 0, 0)
    begin = config.start.from_
    if begin in _MADE_HERE:
        sizes = config.encoder.sizes(tokenizer.vocab_size)
        refuse_too_long(sizes, config.instances)
        model = AlbertForPretraining(sizes)
        if begin == "statistics":
            counts = count_cooccurrences(shards.each_document(), tokenizer.vocab_size)
            special = list(tokenizer.special)
            start_from_statistics(
                model, counts, special, config.start.statistics, seed=config.train.seed
            )
        return model
    sizes, _ = load_config(Path(begin))
    refuse_other_vocabulary(Path(begin), sizes, tokenizer)
    refuse_too_long(sizes, config.instances)
    model = AlbertForPretraining(sizes)
    # Others save encoders without sentence order; it is learned anew.
    load_weights(model, Path(begin), optional=BESIDE_MASKED_LM)
    return model


def pretrain(
    config: PretrainConfig, *, resume: bool = False, observers: Sequence[Observer] = ()
) -> RunState:
    """Run the job; see ``job.train_encoder``."""

    def begin(corpus: Corpus) -> EncoderTrainee:
        model = build_model(config, corpus.tokenizer, corpus.shards)
        return EncoderTrainee(model, model, pretraining_loss)

    start = config.start.from_
    began_as = [] if start in _MADE_HERE else [Path(start)]
    return train_encoder(config, begin, began_as=began_as, resume=resume, observers=observers)
