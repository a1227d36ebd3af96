"""Settings of fine-tuning a reader."""

from __future__ import annotations

from dataclasses import dataclass, field

from zh_albert.configio import renamed
from zh_albert.errors import ConfigError
from zh_albert.tasks.config import JobConfig, NetworkConfig
from zh_albert.tasks.windows import WindowConfig


@dataclass(frozen=True, kw_only=True)
class ModelConfig(NetworkConfig):
    """The network around (or in place of) a trained encoder."""

    simplify: bool = False  # read traditional characters as simplified ones (extra "corpora")
    # Whether it may give no answer. None: where training has unanswerable questions; false: these
    # are learned from, too, but it always answers.
    predicts_no_answer: bool | None = renamed("declines", default=None)


@dataclass(frozen=True, kw_only=True)
class FinetuneConfig(JobConfig):
    """Everything that decides a fine-tuning run, but the data and the encoder it starts from."""

    model: ModelConfig = field(default_factory=ModelConfig)
    window: WindowConfig = field(
        default_factory=lambda: WindowConfig(max_length=256, stride=96)
    )  # stride is also the longest answer
    empty_share: float = 1.0  # of the windows without an answer that are learned from

    def __post_init__(self) -> None:
        if not 0 < self.empty_share <= 1:
            raise ConfigError(f"empty_share must be above 0 and at most 1, got {self.empty_share}")
