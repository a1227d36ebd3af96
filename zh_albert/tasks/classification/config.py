"""Settings of fine-tuning a classifier."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from zh_albert.errors import ConfigError
from zh_albert.tasks.classification.heads import HeadName
from zh_albert.tasks.config import JobConfig, NetworkConfig


@dataclass(frozen=True, kw_only=True)
class ModelConfig(NetworkConfig):
    """The network around (or in place of) a trained encoder."""

    pooling: Literal["first", "mean"] = "mean"  # "first" opens as a classifier in transformers
    head: HeadName | None = None  # None: "classes" for strings, "multi_label" for lists
    # An ensemble with a linear model of n-grams. None: wherever it is possible, that is for one
    # class or one value each and with pooling = "mean".
    ngrams: bool | None = None
    # Pairs in which the order makes no difference: trained on in either, answered by the mean of
    # both, which takes twice as long.
    symmetric: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pooling == "first":
            for name, lost in (("ngrams", "without the n-grams"), ("symmetric", "in one order")):
                if getattr(self, name):
                    raise ConfigError(
                        f'{name} = true needs pooling = "mean": a folder with "first" opens in '
                        f"transformers, which would answer {lost}"
                    )


@dataclass(frozen=True, kw_only=True)
class FinetuneConfig(JobConfig):
    """Everything that decides a fine-tuning run, but the data and the encoder it starts from."""

    model: ModelConfig = field(default_factory=ModelConfig)
