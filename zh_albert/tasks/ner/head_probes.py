"""Linear-probe initialization of the heads without tags, each fitted to the frozen encoder.

The states of a trained encoder differ little from token to token. A new layer with small random
weights therefore scores all tokens alike, and a few hundred updates hardly change that: with 60
sentences neither head found a single entity of those it was trained on
(docs/experiments/few-texts.md).
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from zh_albert.tasks.ner.global_pointer_head import GlobalPointerHead
from zh_albert.tasks.ner.networks import GlobalPointerTagger, SpanTagger
from zh_albert.tasks.tagging.linear_probe import frozen, probe_tokens
from zh_albert.tokenization.encoding import INPUT_NAMES
from zh_albert.training.linear_probe import Standardization, minimize, store_standardized

_BORDERS_PENALTY = 0.003
_PAIRS_PENALTY = 3e-4  # smaller: the loss is a mean over types, that of borders a sum
_STEPS = 50
_SCORES = 4_000_000  # pairs of tokens, times types: bounds the time


def probe_borders(network: SpanTagger, batches: Iterator[dict[str, Tensor]]) -> None:
    """Fit the last layer of a span head; see ``probe_tokens``."""
    encoder, layer = network.encoder, network.classifier
    probe_tokens(encoder, layer, batches, "borders", _border_loss, penalty=_BORDERS_PENALTY)


def _border_loss(outputs: Tensor, borders: Tensor) -> Tensor:
    each = F.binary_cross_entropy_with_logits(outputs, borders.flatten(1), reduction="none")
    return each.sum(1).mean()


def probe_pairs(
    network: GlobalPointerTagger, head: GlobalPointerHead, batches: Iterator[dict[str, Tensor]]
) -> None:
    """Fit both layers of a global pointer head, which are not linear together, by L-BFGS.

    Args:
        network: A network with a trained encoder, which is not changed.
        head: Its head.
        batches: Inputs with ``entities`` and ``decided``; only the first ones are used.
    """
    read: list[tuple[dict[str, Tensor], Tensor]] = []
    for inputs in batches:
        with frozen():
            hidden = network.encoder(*(inputs[name] for name in INPUT_NAMES)).hidden
        read.append((inputs, hidden.float()))
        if sum(one["entities"].numel() for one, _ in read) >= _SCORES:
            break
    scale = Standardization.of(torch.cat([hidden[inputs["mask"]] for inputs, hidden in read]))
    # Cloned, because tensors of inference mode take no part in gradients.
    states = [((hidden - scale.mean) / scale.spread).clone() for _, hidden in read]
    windows = sum(map(len, states))
    weight, bias = (p.detach().clone().requires_grad_() for p in network.borders.parameters())

    def loss() -> Tensor:
        total = weight.new_zeros(())
        for (inputs, _), hidden in zip(read, states, strict=True):
            scores = network.pair_scores(F.linear(hidden, weight, bias))
            total = total + head.loss(scores, inputs)
        squares = weight.square().sum() + network.types.weight.square().sum()
        return total / windows + _PAIRS_PENALTY / 2 * squares

    minimize([weight, bias, *network.types.parameters()], loss, steps=_STEPS)
    store_standardized(network.borders, weight, bias, scale)
    network.zero_grad()
