"""The networks that mark entities: scores for tokens, for their borders, or for pairs of tokens."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from zh_albert.errors import ConfigError, nearest
from zh_albert.model.config import AlbertConfig
from zh_albert.model.dropout import Dropout
from zh_albert.model.encoder import init_weights
from zh_albert.model.lstm_encoder import encoder_without_pooler
from zh_albert.model.token_tagger import TokenTagger
from zh_albert.runtimes.onnx_encoder import encoded
from zh_albert.runtimes.onnx_graph import INPUTS, Graph, numbers_of
from zh_albert.runtimes.onnx_network import token_logits
from zh_albert.tasks.ner.tags import TagSet

Head = Literal["softmax", "crf", "span", "global_pointer"]
HEADS: tuple[Head, ...] = ("softmax", "crf", "span", "global_pointer")

_MOST_TYPES = 1000  # a table has a number for each two tags, of which a type has two or more
_WIDTH = 64  # of the queries and keys of a global pointer
_RARE = -4.0  # log-odds of 1.8 %: initially entities are about as rare as in texts


def build_tagger(config: AlbertConfig, tags: TagSet, head: Head) -> nn.Module:
    """Return the network of a head; one without tags takes only the types from ``tags``.

    Raises:
        ConfigError: If there is no such head, no type, or too many.
    """
    num_types = len(tags.types)
    if num_types < 1:
        raise ConfigError(f"num_types must be at least 1, got {num_types}")
    if num_types > _MOST_TYPES:
        raise ConfigError(f"num_types must be at most {_MOST_TYPES:,}, got {num_types:,}")
    match head:
        case "softmax" | "crf":
            return TokenTagger(config, tags.legal, transitions=head == "crf")
        case "span":
            return SpanTagger(config, num_types)
        case "global_pointer":
            return GlobalPointerTagger(config, num_types)
        case _:
            raise ConfigError(f"unknown head {head!r}; {nearest(str(head), HEADS)}")


class SpanTagger(nn.Module):
    """A network that scores starts and ends of entities for each token and type."""

    def __init__(self, config: AlbertConfig, num_types: int) -> None:
        super().__init__()
        self.encoder = encoder_without_pooler(config)
        self.dropout = Dropout(config.classifier_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, 2 * num_types)
        init_weights(self.classifier, config.initializer_range)
        nn.init.constant_(self.classifier.bias, _RARE)

    def forward(self, token_ids: Tensor, type_ids: Tensor, mask: Tensor) -> Tensor:
        """Return log-odds of starts and ends. Shape: (batch, length, types, 2).

        Args: see ``TokenTagger.forward``.
        """
        hidden = self.encoder(token_ids, type_ids, mask).hidden
        logits: Tensor = self.classifier(self.dropout(hidden))
        return logits.view(*logits.shape[:2], -1, 2)


class GlobalPointerTagger(nn.Module):
    """A network that scores each pair of tokens as first and last token of an entity of each type.

    One product of rotated queries and keys scores whether two tokens are the borders of an entity;
    a score for each token, type and border adds the type. So each type adds only two rows to a
    matrix.

    Source: Su et al. 2022 (arXiv:2208.03054), the efficient form.
    """

    def __init__(self, config: AlbertConfig, num_types: int) -> None:
        super().__init__()
        self.encoder = encoder_without_pooler(config)
        self.dropout = Dropout(config.classifier_dropout_prob)
        self.borders = nn.Linear(config.hidden_size, 2 * _WIDTH)
        self.types = nn.Linear(2 * _WIDTH, 2 * num_types)
        init_weights(self.borders, config.initializer_range)
        init_weights(self.types, config.initializer_range)
        nn.init.constant_(self.types.bias, _RARE)

    def forward(self, token_ids: Tensor, type_ids: Tensor, mask: Tensor) -> Tensor:
        """Return scores, above 0 for an entity. Shape: (batch, types, length, length).

        Scores of pairs whose last token precedes the first have no meaning.

        Args: see ``TokenTagger.forward``.
        """
        hidden = self.encoder(token_ids, type_ids, mask).hidden
        return self.pair_scores(self.borders(self.dropout(hidden)))

    def pair_scores(self, borders: Tensor) -> Tensor:
        """Return the scores, see ``forward``, from the outputs of ``borders``."""
        first, last = (rotated(half) for half in borders.chunk(2, dim=-1))
        pairs = first @ last.transpose(1, 2) * first.shape[-1] ** -0.5
        starts, ends = (self.types(borders) / 2).transpose(1, 2).chunk(2, dim=1)
        scores: Tensor = pairs[:, None] + starts[..., None] + ends[:, :, None, :]
        return scores


def rotated(vectors: Tensor) -> Tensor:
    """Rotate each pair of adjacent features by an angle proportional to the position.

    The product of two rotated vectors depends only on their distance.

    Args:
        vectors: Shape: (batch, length, width); width is even.

    Returns:
        The same shape.

    Source: Su et al. 2021 (arXiv:2104.09864), equation 34.
    """
    length, width = vectors.shape[-2:]
    rates = 10_000 ** (-torch.arange(0, width, 2, device=vectors.device) / width)
    angles = torch.arange(length, device=vectors.device)[:, None] * rates
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    even, odd = vectors[..., 0::2], vectors[..., 1::2]
    return torch.stack([even * cos - odd * sin, odd * cos + even * sin], dim=-1).flatten(-2)


def entity_scores(network: nn.Module, graph: Graph) -> None:
    """Add one of these networks to an ONNX graph, with its output."""
    match network:
        case TokenTagger():
            token_logits(network, graph)
        case SpanTagger():
            logits = graph.linear(encoded(network.encoder, graph), network.classifier, int8=False)
            borders = graph.node("Reshape", logits, graph.constant([0, 0, -1, 2]))
            types = network.classifier.out_features // 2
            graph.output(borders, ("batch", "length", types, 2))
        case GlobalPointerTagger():
            types = network.types.out_features // 2
            graph.output(_pair_scores(network, graph), ("batch", types, "length", "length"))
        case _:
            raise TypeError(f"not a network of entities: {type(network).__name__}")


def _pair_scores(network: GlobalPointerTagger, graph: Graph) -> str:
    borders = graph.linear(encoded(network.encoder, graph), network.borders, int8=False)
    first, last = (
        _rotated(half, network.encoder.config, graph) for half in graph.split(borders, 2)
    )
    last = graph.node("Transpose", last, perm=[0, 2, 1])
    scale = graph.constant(_WIDTH**-0.5, dtype=np.float32)
    pairs = graph.node("Mul", graph.node("MatMul", first, last), scale)
    types = graph.linear(borders, network.types, factor=0.5, int8=False)
    starts, ends = graph.split(graph.node("Transpose", types, perm=[0, 2, 1]), 2, axis=1)
    pairs = graph.node("Unsqueeze", pairs, graph.constant([1]))
    starts = graph.node("Unsqueeze", starts, graph.constant([3]))
    ends = graph.node("Unsqueeze", ends, graph.constant([2]))
    return graph.node("Add", graph.node("Add", pairs, starts), ends)


def _rotated(vectors: str, config: AlbertConfig, graph: Graph) -> str:
    """Add ``rotated`` to the graph, with a table of the rotations of (1, 0)."""
    units = torch.tensor([1.0, 0.0]).repeat(config.max_position_embeddings, _WIDTH // 2)
    table = graph.store(f"rotation.{_WIDTH}", numbers_of(rotated(units[None])[0]))
    length = graph.node("Shape", INPUTS[0], start=1, end=2)
    zero = graph.constant([0])
    turns = graph.node("Slice", table, zero, length, zero)
    cos, sin = graph.split(graph.node("Reshape", turns, graph.constant([0, -1, 2])), 2)
    pairs = graph.node("Reshape", vectors, graph.constant([0, 0, -1, 2]))
    even, odd = graph.split(pairs, 2)
    along = graph.node("Sub", graph.node("Mul", even, cos), graph.node("Mul", odd, sin))
    across = graph.node("Add", graph.node("Mul", odd, cos), graph.node("Mul", even, sin))
    turned = graph.node("Concat", along, across, axis=-1)
    return graph.node("Reshape", turned, graph.constant([0, 0, _WIDTH]))
