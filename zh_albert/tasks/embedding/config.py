"""Settings of contrastive fine-tuning of sentence vectors."""

from __future__ import annotations

from dataclasses import dataclass, field

from zh_albert.configio import renamed
from zh_albert.errors import ConfigError
from zh_albert.tasks.config import JobConfig, NetworkConfig
from zh_albert.training.config import TrainConfig


@dataclass(frozen=True, kw_only=True)
class ContrastConfig:
    """What is learned to be alike, and how sharply."""

    temperature: float = 0.05  # of the cosines
    # Pairs with numbers for labels mean the same from here on.
    positive_threshold: float = renamed("alike_from", default=4.0)

    def __post_init__(self) -> None:
        if self.temperature <= 0:
            raise ConfigError(f"temperature must be > 0, got {self.temperature}")


@dataclass(frozen=True, kw_only=True)
class FinetuneConfig(JobConfig):
    """Everything that decides a fine-tuning run, but the data and the encoder it starts from."""

    # Published encoders have no dropout, but it is all that tells a single text from itself.
    model: NetworkConfig = field(default_factory=lambda: NetworkConfig(dropout=0.1))
    contrast: ContrastConfig = field(default_factory=ContrastConfig)
    # The other texts of a batch are what one is told apart from, so batches are large.
    train: TrainConfig = field(
        default_factory=lambda: TrainConfig(epochs=1, peak_lr=3e-5, batch_tokens=4096)
    )
