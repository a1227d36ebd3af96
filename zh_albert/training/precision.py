"""Numeric precision of a run: bf16 where the hardware is faster in it, else fp32."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from zh_albert.hardware import is_bf16_faster
from zh_albert.training.config import TrainConfig

SLOW_BF16 = (
    "this machine is not faster in bf16 than in fp32, so precision = bf16 slows training down; "
    "leave the setting out to train in the faster one"
)


def computes_faster_in_bf16() -> bool:
    """Return whether the training device (the GPU, else the CPU) is faster in bf16."""
    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return is_bf16_faster()


def settled(config: TrainConfig) -> TrainConfig:
    """Return the settings with ``precision="auto"`` resolved for this machine."""
    if config.precision != "auto":
        return config
    return replace(config, precision="bf16" if computes_faster_in_bf16() else "fp32")


class Autocast(nn.Module):
    """A network that computes as it is trained with ``precision="bf16"``.

    A copy in bf16 would round weights twice where training rounds them, to other integers.
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self._network = network

    def forward(self, *inputs: Tensor) -> Any:
        """See the network."""
        with torch.autocast(inputs[0].device.type, dtype=torch.bfloat16):
            return self._network(*inputs)
