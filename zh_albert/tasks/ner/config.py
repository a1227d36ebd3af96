"""Settings of fine-tuning a tagger."""

from __future__ import annotations

from dataclasses import dataclass, field

from zh_albert.errors import ConfigError
from zh_albert.tasks.config import JobConfig, NetworkConfig
from zh_albert.tasks.ner.networks import Head


@dataclass(frozen=True, kw_only=True)
class ModelConfig(NetworkConfig):
    """The network around (or in place of) a trained encoder."""

    head: Head = "crf"  # "softmax" opens in transformers; "global_pointer" nests entities
    # An ensemble with a small tagger over n-grams; None: where the head is "crf".
    ngrams: bool | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ngrams and self.head != "crf":
            raise ConfigError(f'ngrams = true needs head = "crf", found "{self.head}"')


@dataclass(frozen=True, kw_only=True)
class FinetuneConfig(JobConfig):
    """Everything that decides a fine-tuning run, but the data and the encoder it starts from.

    A teacher is possible for the heads that have tags.
    """

    model: ModelConfig = field(default_factory=ModelConfig)
