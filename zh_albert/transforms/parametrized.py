"""Weights that are computed from others in training, and plain ones when a model is kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import Tensor, nn
from torch.nn.utils import parametrize

from zh_albert.model.encoder import encoder_of
from zh_albert.training.loop import LossOutput, Objective
from zh_albert.training.method import Method


def matrices(network: Any, *, table: bool = True) -> Iterator[tuple[str, nn.Module]]:
    """Yield the encoder's large matrices: those of its blocks, of the projection, the word table.

    Heads, norms, positions and the pooler are few numbers that errors cost most in.

    Args:
        network: An encoder, or a network with an ``encoder``.
        table: Also yield the word table.
    """
    encoder = encoder_of(network)
    for name, part in encoder.named_modules():
        in_block = name.startswith(("attention.", "ffn.")) and isinstance(part, nn.Linear)
        if in_block or name == "embeddings.projection" or (table and name == "embeddings.word"):
            yield name, part


def transformed(module: nn.Module, transform: nn.Module) -> None:
    """Let a module's weight be computed from the stored one from now on; transforms add up."""
    parametrize.register_parametrization(module, "weight", transform, unsafe=True)


class Transforms(Method):
    """Base of methods that transform weights: shared blocks compute theirs once in a pass."""

    def objective(self, objective: Objective) -> Objective:
        """See ``Method``."""

        def once(module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
            with parametrize.cached():
                # Here, with gradients: whoever runs a block first may want none.
                for part in module.modules():
                    if parametrize.is_parametrized(part, "weight"):
                        part.weight  # noqa: B018
                return objective(module, inputs)

        return once
