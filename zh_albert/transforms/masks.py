"""Magnitude pruning: the smallest weights are 0 and stay 0.

Source: Zhu and Gupta 2017 (arXiv:1710.01878), the cubic schedule; Gordon et al. 2020
(arXiv:2002.08307), each matrix of BERT by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from zh_albert.configio import check_at_least
from zh_albert.errors import ConfigError
from zh_albert.model.encoder import encoder_of
from zh_albert.model.lstm_encoder import refuse_lstm
from zh_albert.transforms.parametrized import Transforms, matrices, transformed

_SOME_ZEROS = 0.01  # share of a matrix; more were put there on purpose


@dataclass(frozen=True, kw_only=True)
class MaskConfig:
    """Which share of the encoder's weights becomes 0."""

    sparsity: float
    scope: Literal["local", "global"] = "local"  # each matrix by itself, or all together
    steps: int = 1  # 1: at once, before training; more: over the first half, ever fewer at a time
    table: bool = True  # the word table, too

    def __post_init__(self) -> None:
        if not 0 < self.sparsity < 1:
            raise ConfigError(
                "mask.sparsity is the share of weights that become 0: expected a number between 0 "
                f"and 1, found {self.sparsity}"
            )
        check_at_least(1, "mask.steps", self.steps)

    def share_at(self, step: int) -> float:
        """Return the share of zeros after a step, from 0; the last one reaches ``sparsity``."""
        done = min((step + 1) / self.steps, 1.0)
        return self.sparsity * (1 - (1 - done) ** 3)


class Mask(nn.Module):
    """A weight without those that are masked."""

    def __init__(self, kept: Tensor) -> None:
        super().__init__()
        self.kept: Tensor
        self.register_buffer("kept", kept)

    def forward(self, weight: Tensor) -> Tensor:
        """Return the weight with zeros. Shape in and out: that of the mask."""
        return weight * self.kept


def kept_by_magnitude(
    weights: Mapping[str, Tensor], share: float, scope: Literal["local", "global"]
) -> dict[str, Tensor]:
    """Return a mask for each weight, False for the smallest: exactly their share, rounded.

    Args:
        weights: By name.
        share: Of zeros.
        scope: ``local``: of each weight; ``global``: of all together.
    """
    if scope == "local":
        return {
            name: _without_smallest(w.abs().flatten(), share).view_as(w)
            for name, w in weights.items()
        }
    together = torch.cat([weight.abs().flatten() for weight in weights.values()])
    sizes = [weight.numel() for weight in weights.values()]
    parts = _without_smallest(together, share).split_with_sizes(sizes)
    return {name: part.view_as(weights[name]) for name, part in zip(weights, parts, strict=True)}


def _without_smallest(sizes: Tensor, share: float) -> Tensor:
    kept = torch.ones_like(sizes, dtype=torch.bool)
    # By their order, not by a threshold: equal weights would all fall on one side of it.
    kept[sizes.argsort(stable=True)[: round(share * len(sizes))]] = False
    return kept


def keep_zeros(network: Any) -> None:
    """Mask what is 0 already in matrices that were pruned before, so that it stays 0."""
    for _, module in matrices(network):
        weight = module.weight.detach()  # type: ignore[operator]
        kept = weight != 0
        if isinstance(module, nn.Embedding) and module.padding_idx is not None:
            kept[module.padding_idx] = True  # 0 in any model
        if 1 - kept.float().mean() > _SOME_ZEROS:
            transformed(module, Mask(kept))


class MagnitudePruning(Transforms):
    """Masks by magnitude, at once or in steps.

    Args:
        network: Its weights are transformed in place.
        config: How many.
    """

    def __init__(self, network: Any, config: MaskConfig) -> None:
        self._config = config
        refuse_lstm(encoder_of(network).config, "mask")
        self._modules = dict(matrices(network, table=config.table))
        self._masks: dict[str, Mask] = {}
        for name, module in self._modules.items():
            weight = module.weight.detach()  # type: ignore[operator]
            self._masks[name] = Mask(torch.ones_like(weight, dtype=torch.bool))
            transformed(module, self._masks[name])
        self._settled = config.steps == 1
        if self._settled:
            self._prune(0)

    def on_update(self, update: int, total: int) -> None:
        """Set the masks anew at the updates where a step begins."""
        steps = self._config.steps
        # In a short run several begin at once: the last of them counts.
        begun = {round(step * total / 2 / steps): step for step in range(steps)}
        if steps > 1 and update in begun:
            self._prune(begun[update])
        self._settled = steps == 1 or update >= max(begun)

    def settled(self) -> bool:
        """Return whether the last step was made."""
        return self._settled

    def _prune(self, step: int) -> None:
        # Masked weights count as 0, so they are the first to be masked again. What other methods
        # make of a weight, by rounding it or closing gates, does not count.
        weights = {
            name: self._masks[name](module.parametrizations.weight.original.detach())  # type: ignore[operator, union-attr]
            for name, module in self._modules.items()
        }
        share, scope = self._config.share_at(step), self._config.scope
        for name, kept in kept_by_magnitude(weights, share, scope).items():
            self._masks[name].kept.copy_(kept)
