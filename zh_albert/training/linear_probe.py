"""Linear-probe initialization: a last layer is fitted on the frozen encoder's outputs first.

A randomly initialized layer sends random gradients into a pretrained encoder until it has learned
something itself, and a small data set allows few updates (docs/experiments/few-texts.md).

Source: Kumar et al. 2022 (arXiv:2202.10054), linear probing before fine-tuning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

_STEPS = 100
_PRIOR_VECTORS = 10  # weight of the shared variance, as a number of vectors


class Standardization(NamedTuple):
    """Mean and standard deviation of vectors. Shape of each: (width,)."""

    mean: Tensor
    spread: Tensor

    @classmethod
    def of(cls, vectors: Tensor) -> Standardization:
        """Estimate them; with few vectors, each variance is shrunk towards the mean variance.

        Args:
            vectors: Shape: (vectors, width).
        """
        variance, number = vectors.var(0, correction=0), len(vectors)
        shared = (number * variance + _PRIOR_VECTORS * variance.mean()) / (number + _PRIOR_VECTORS)
        return cls(vectors.mean(0), shared.sqrt().clamp(min=1e-3))


def fit_linear(
    layer: nn.Linear, vectors: Tensor, loss: Callable[[Tensor], Tensor], *, penalty: float
) -> None:
    """Minimize the mean loss of a layer's outputs by L-BFGS, starting from zero weights.

    Args:
        layer: Changed in place.
        vectors: Inputs of the layer. Shape: (vectors, width).
        loss: Maps all outputs, Shape: (vectors, outputs), to their mean loss.
        penalty: L2 penalty on half of the squared weights, for standardized inputs.
    """
    mean, spread = Standardization.of(vectors)
    inputs = (vectors - mean) / spread
    weight = torch.zeros_like(layer.weight, requires_grad=True)
    bias = torch.zeros_like(layer.bias, requires_grad=True)
    minimize(
        [weight, bias],
        lambda: loss(inputs @ weight.T + bias) + penalty / 2 * weight.square().sum(),
        steps=_STEPS,
    )
    store_standardized(layer, weight, bias, Standardization(mean, spread))


def minimize(parameters: Sequence[Tensor], loss: Callable[[], Tensor], *, steps: int) -> None:
    """Minimize a loss of some parameters by L-BFGS."""
    optimizer = torch.optim.LBFGS(parameters, max_iter=steps, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimizer.zero_grad()
        total = loss()
        total.backward()  # type: ignore[no-untyped-call]
        return total

    optimizer.step(closure)  # type: ignore[no-untyped-call]


def store_standardized(
    layer: nn.Linear, weight: Tensor, bias: Tensor, scale: Standardization
) -> None:
    """Store in a layer the weights for standardized inputs, changed to those for inputs as is."""
    with torch.no_grad():
        layer.weight.copy_(weight / scale.spread)
        layer.bias.copy_(bias - layer.weight @ scale.mean)
