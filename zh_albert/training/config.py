"""Settings of the training loop."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from zh_albert.errors import ConfigError

_EPOCHS = range(4, 11)  # range of epochs="auto"
_UPDATES = 80  # minimum that epochs="auto" aims at (docs/experiments/few-texts.md)


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """Settings of the training loop; the same for fine-tuning, pretraining and distillation."""

    # auto: 4, or up to 10 where 4 epochs would make fewer than 80 updates; 0: only the head is
    # fitted, to the encoder as it is
    epochs: int | Literal["auto"] = 3
    max_updates: int | None = None  # stop (and end the decay) here, if earlier
    batch_tokens: int = 4096  # tokens of one forward pass, padding included
    accumulation: int = 1  # forward passes per update and process
    optimizer: Literal["adamw", "lamb"] = "adamw"
    peak_lr: float = 1e-4
    warmup: float = 0.1  # fraction of all updates
    decay: Literal["linear", "polynomial", "constant"] = "linear"
    decay_power: float = 2.0  # exponent of "polynomial"; 1 equals "linear"
    weight_decay: float = 0.01  # on matrices only, not on biases and norms
    beta2: float = 0.98  # decay of the second moment; lower than usual, because runs are short
    clip_norm: float = 1.0
    # bf16: autocast over fp32 master weights; auto: bf16 where this machine is faster in it
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    compile: bool = False  # torch.compile: starts a minute or more later, then runs faster
    seed: int = 1
    evaluate_every: int = 0  # updates between evaluations; 0: at the end of every epoch
    # evaluations without a better score that end the run; None: it is never ended early
    patience: int | None = None
    save_every_s: float = 60.0  # seconds between saved states; 0: after every update

    def __post_init__(self) -> None:
        for name in ("peak_lr", "decay_power", "weight_decay", "clip_norm", "save_every_s"):
            if not math.isfinite(getattr(self, name)):
                raise ConfigError(f"{name} must be a finite number, got {getattr(self, name)}")
        for name in ("batch_tokens", "accumulation", "peak_lr", "decay_power"):
            if (value := getattr(self, name)) <= 0:
                raise ConfigError(f"{name} must be > 0, got {value}")
        for name in ("warmup", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name} must be in [0, 1), got {getattr(self, name)}")
        counts = ("epochs", "evaluate_every", "save_every_s", "seed")
        for name in (*counts, "weight_decay", "clip_norm"):
            if (value := getattr(self, name)) != "auto" and value < 0:
                raise ConfigError(f"{name} must be >= 0, got {value}")
        for name in ("max_updates", "patience"):
            if (number := getattr(self, name)) is not None and number <= 0:
                raise ConfigError(f"{name} must be > 0, got {number}")

    def epochs_of(self, updates: int) -> int:
        """Return the number of epochs to train, given the number of updates in one."""
        if self.epochs != "auto":
            return self.epochs
        return min(max(math.ceil(_UPDATES / max(updates, 1)), _EPOCHS[0]), _EPOCHS[-1])
