"""What a run computes in: bf16 where the hardware multiplies it itself, else fp32."""

from __future__ import annotations

from dataclasses import replace

import torch

from zh_albert.engines.engine import has_native_bf16
from zh_albert.training.config import TrainConfig

SLOW_BF16 = (
    "this machine does not multiply bf16 numbers itself, so precision = bf16 is several times "
    "slower here than fp32; leave the setting out to train in what is fastest"
)


def multiplies_bf16() -> bool:
    """Say whether what training runs on, the GPU or else the CPU, multiplies bf16 itself."""
    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return has_native_bf16()


def settled(config: TrainConfig) -> TrainConfig:
    """Return the settings with "auto" replaced by what it means on this machine."""
    if config.precision != "auto":
        return config
    return replace(config, precision="bf16" if multiplies_bf16() else "fp32")
