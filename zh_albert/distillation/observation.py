"""Observation of a network's insides during a forward pass, without a change to the network."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from zh_albert.model.encoder import encoder_of
from zh_albert.model.layer import AttentionBlock


@dataclass
class Observed:
    """What a forward pass computed; lists have an entry for each layer that ran, in order.

    Attributes:
        embeddings: Output of the embeddings. Shape: (batch, length, hidden).
        states: Output of each layer. Shape of each: (batch, length, hidden).
        queries, keys, values: Of each layer, before heads are split. Shape of each: (batch,
            length, heads · head size).
        heads: Number of heads of each layer.
        masked: Logits of the masked-LM head. Shape: (masked, vocab).
    """

    embeddings: Tensor | None = None
    states: list[Tensor] = field(default_factory=list)
    queries: list[Tensor] = field(default_factory=list)
    keys: list[Tensor] = field(default_factory=list)
    values: list[Tensor] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    masked: Tensor | None = None


@contextmanager
def observing(network: Any, parts: Collection[str]) -> Iterator[Observed]:
    """Collect what a network computes inside the block.

    Args:
        network: An encoder, or a network with an ``encoder``.
        parts: Attributes of ``Observed`` to collect; a layer's queries, keys and values come
            together.
    """
    encoder: Any = encoder_of(network)
    found = Observed()
    handles = []

    def listen(module: nn.Module, take: Any) -> None:
        handles.append(module.register_forward_hook(lambda _module, _inputs, out: take(out)))

    if "embeddings" in parts:
        listen(encoder.embeddings, lambda out: setattr(found, "embeddings", out))
    if "states" in parts:
        for block in encoder.lstm if encoder.config.layer == "lstm" else encoder.ffn:
            listen(block, found.states.append)
    if "queries" in parts:
        for block in encoder.attention:
            assert isinstance(block, AttentionBlock)
            listen(block.query, found.queries.append)
            listen(block.key, found.keys.append)
            listen(block.key, lambda _, heads=block.heads: found.heads.append(heads))
            listen(block.value, found.values.append)
    if "masked" in parts:
        listen(network.masked_lm, lambda out: setattr(found, "masked", out))
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()
