"""Least-squares fit of a norm's gain and offset."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def fit_norm(norm: nn.LayerNorm, outputs: Tensor, targets: Tensor) -> None:
    """Fit gain and offset of each dimension so that a norm's outputs come close to their targets.

    Args:
        norm: Changed in place.
        outputs: Its outputs with gain 1 and offset 0. Shape: (rows, width).
        targets: Shape: (rows, width).
    """
    centred = outputs - (mean := outputs.mean(0))
    gain = (centred * targets).mean(0) / centred.square().mean(0).clamp(min=1e-6)
    with torch.no_grad():
        norm.weight.copy_(gain)
        norm.bias.copy_(targets.mean(0) - gain * mean)
