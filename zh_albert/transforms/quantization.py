"""Quantization-aware training: weights rounded in every forward pass, as they will be stored.

The gradient passes through the rounding unchanged (straight-through estimator, Bengio et al. 2013,
arXiv:1308.3432). Embeddings are rounded, too: of ALBERT-tiny they are two thirds (Zafrir et al.
2019, Q8BERT, arXiv:1910.06188).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from zh_albert.configio import check_at_least
from zh_albert.errors import ConfigError
from zh_albert.model.encoder import encoder_of
from zh_albert.model.lstm_encoder import refuse_lstm
from zh_albert.model.rounding import dequantized, is_rounded, rounded
from zh_albert.transforms.parametrized import Transforms, transformed


@dataclass(frozen=True, kw_only=True)
class QuantizeConfig:
    """The integers that weights are rounded to."""

    bits: int
    group: int | None = None  # weights of a row that share a scale; None: the whole row
    start: float = 0.0  # share of the run before which nothing is rounded

    def __post_init__(self) -> None:
        if not 2 <= self.bits <= 8:
            raise ConfigError(f"bits: expected 2 to 8 for a weight, found {self.bits}")
        check_at_least(2, "quantize.group", self.group)
        if not 0 <= self.start < 1:
            raise ConfigError(f"quantize.start must be in [0, 1), got {self.start}")


class FakeQuantization(nn.Module):
    """A weight rounded to what will be stored; gradients pass as if it were not."""

    def __init__(self, bits: int, group: int | None) -> None:
        super().__init__()
        self.bits, self.group = bits, group
        self.active = True

    def forward(self, weight: Tensor) -> Tensor:
        """Return the rounded weight. Shape in and out: (rows, columns)."""
        if self.training and not self.active:
            return weight
        near = dequantized(*rounded(weight.detach(), self.bits, self.group)).view_as(weight)
        straight: Tensor = near + (weight - weight.detach())  # in this order it is exactly near
        return straight


class QuantizationAwareTraining(Transforms):
    """Fake quantization of the encoder's matrices.

    Args:
        network: Its weights are transformed in place.
        config: The integers.
    """

    def __init__(self, network: Any, config: QuantizeConfig) -> None:
        self._start = config.start
        self._settled = not config.start
        self._roundings = []
        encoder = encoder_of(network)
        refuse_lstm(encoder.config, "quantize")
        for name, module in list(encoder.named_modules()):
            matrix = isinstance(module, nn.Linear | nn.Embedding)
            if matrix and is_rounded(f"{name}.weight"):  # as the file does
                rounding = FakeQuantization(config.bits, config.group)
                self._roundings.append(rounding)
                transformed(module, rounding)

    def on_update(self, update: int, total: int) -> None:
        """Begin to round at its time."""
        self._settled = update >= min(self._start * total, total - 1)  # the last at the latest
        for rounding in self._roundings:
            rounding.active = self._settled

    def settled(self) -> bool:
        """Return whether training rounds; evaluation always does."""
        return self._settled
