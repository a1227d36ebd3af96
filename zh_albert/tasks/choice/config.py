"""Settings of fine-tuning a multiple-choice model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from zh_albert.errors import ConfigError
from zh_albert.tasks.config import JobConfig, NetworkConfig
from zh_albert.training.config import TrainConfig


@dataclass(frozen=True, kw_only=True)
class ModelConfig(NetworkConfig):
    """The network around (or in place of) a trained encoder."""

    # In the encoder and before the last layer. A question's choices share their context and differ
    # by little; dropout hides something else of each, and moved their logits by more than that
    # (docs/experiments/multiple-choice.md).
    dropout: float | None = 0.0
    pooling: Literal["first", "mean"] = "mean"  # "first" opens in transformers


@dataclass(frozen=True, kw_only=True)
class FinetuneConfig(JobConfig):
    """Everything that decides a fine-tuning run, but the data and the encoder it starts from."""

    model: ModelConfig = field(default_factory=ModelConfig)
    # All choices of a question share a batch, so it takes more tokens to hold several questions.
    train: TrainConfig = field(
        default_factory=lambda: TrainConfig(epochs="auto", peak_lr=1e-4, batch_tokens=4096)
    )
    # Characters; questions about longer contexts are not learned from (None: all are). Where an
    # answer has to be found in much text a small model learns nothing, and forgets its start
    # (docs/experiments/multiple-choice.md); it still answers them.
    longest_context: int | None = None

    def __post_init__(self) -> None:
        if self.longest_context is not None and self.longest_context < 1:
            raise ConfigError(f"longest_context must be at least 1, got {self.longest_context}")
