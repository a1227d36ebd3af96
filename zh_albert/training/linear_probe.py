"""A last layer's start: fitted to what the layers below say already, before they learn, too.

A layer of random weights sends random gradients into a trained encoder until it has learned
something itself, and few texts make few updates (docs/experiments/few-texts.md).

Source: Kumar et al. 2022 (arXiv:2202.10054), linear probing before fine-tuning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

_STEPS = 100
_FEW = 10  # vectors: with as many, half of a direction's variance is its own


class Standard(NamedTuple):
    """How vectors are spread. Shape of each: (width,)."""

    mean: Tensor
    spread: Tensor

    @classmethod
    def of(cls, vectors: Tensor) -> Standard:
        """Measure it; where vectors are few, directions are taken to be spread alike.

        Args:
            vectors: Shape: (vectors, width).
        """
        variance, number = vectors.var(0, correction=0), len(vectors)
        shared = (number * variance + _FEW * variance.mean()) / (number + _FEW)
        return cls(vectors.mean(0), shared.sqrt().clamp(min=1e-3))


def fit_linear(
    layer: nn.Linear, vectors: Tensor, loss: Callable[[Tensor], Tensor], *, penalty: float
) -> None:
    """Minimize the loss of a layer's outputs, from zero.

    Args:
        layer: Changed in place.
        vectors: What goes in. Shape: (vectors, width).
        loss: All outputs, Shape: (vectors, outputs), → their mean loss.
        penalty: On half of the squared weights, for directions of a spread of 1.
    """
    mean, spread = Standard.of(vectors)
    inputs = (vectors - mean) / spread
    weight = torch.zeros_like(layer.weight, requires_grad=True)
    bias = torch.zeros_like(layer.bias, requires_grad=True)
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=_STEPS, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimizer.zero_grad()
        total = loss(inputs @ weight.T + bias) + penalty / 2 * weight.square().sum()
        total.backward()  # type: ignore[no-untyped-call]
        return total

    optimizer.step(closure)  # type: ignore[no-untyped-call]
    with torch.no_grad():
        layer.weight.copy_(weight / spread)
        layer.bias.copy_(bias - layer.weight @ mean)
