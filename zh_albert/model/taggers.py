"""Networks that mark entities: scores for tokens, for their borders, or for pairs of tokens."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from zh_albert.errors import ConfigError, nearest
from zh_albert.model.bioes import legal_moves, num_tags
from zh_albert.model.config import AlbertConfig
from zh_albert.model.crf import Transitions
from zh_albert.model.dropout import Dropout
from zh_albert.model.encoder import AlbertEncoder, init_weights

Head = Literal["softmax", "crf", "span", "global_pointer"]
HEADS: tuple[Head, ...] = ("softmax", "crf", "span", "global_pointer")

_RARE = -4.0  # log-odds of 1.8 %: at the start an entity is about as rare as in texts


class TokenTagger(nn.Module):
    """Score BIOES tags for each token; with ``transitions`` also the moves between them.

    Without transitions ``transformers.AlbertForTokenClassification`` computes the same.

    Args:
        config: Sizes of the encoder.
        num_types: Types of entities.
        transitions: Learn how tags follow each other (a conditional random field).
    """

    def __init__(self, config: AlbertConfig, num_types: int, *, transitions: bool) -> None:
        super().__init__()
        self.encoder = _encoder_without_pooler(config)
        self.dropout = Dropout(config.classifier_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, num_tags(num_types))
        init_weights(self.classifier, config.initializer_range)
        self.transitions = Transitions(legal_moves(num_types)) if transitions else None

    def forward(self, token_ids: Tensor, type_ids: Tensor, mask: Tensor) -> Tensor:
        """Return emissions. Shape: (batch, length, tags).

        Args:
            token_ids: Vocabulary ids. Shape: (batch, length).
            type_ids: 0 for the first text, 1 for the second. Shape: (batch, length).
            mask: True where a token may be attended to. Shape: (batch, length).
        """
        hidden = self.encoder(token_ids, type_ids, mask).hidden
        emissions: Tensor = self.classifier(self.dropout(hidden))
        return emissions


class SpanTagger(nn.Module):
    """Score for each token and type whether an entity starts there and whether one ends there."""

    def __init__(self, config: AlbertConfig, num_types: int) -> None:
        super().__init__()
        self.encoder = _encoder_without_pooler(config)
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
    """Score each pair of tokens as first and last token of an entity, for each type.

    One product of rotated queries and keys says whether two tokens are the borders of something;
    a score for each token, type and border says of what. So a type costs two rows of a matrix.

    Source: Su et al. 2022 (arXiv:2208.03054), the efficient form.
    """

    def __init__(self, config: AlbertConfig, num_types: int, *, width: int = 64) -> None:
        super().__init__()
        self.encoder = _encoder_without_pooler(config)
        self.dropout = Dropout(config.classifier_dropout_prob)
        self.borders = nn.Linear(config.hidden_size, 2 * width)
        self.types = nn.Linear(2 * width, 2 * num_types)
        init_weights(self.borders, config.initializer_range)
        init_weights(self.types, config.initializer_range)
        nn.init.constant_(self.types.bias, _RARE)

    def forward(self, token_ids: Tensor, type_ids: Tensor, mask: Tensor) -> Tensor:
        """Return scores, above 0 for an entity. Shape: (batch, types, length, length).

        Pairs whose last token stands before the first one mean nothing.

        Args: see ``TokenTagger.forward``.
        """
        hidden = self.encoder(token_ids, type_ids, mask).hidden
        borders = self.borders(self.dropout(hidden))
        first, last = (rotated(half) for half in borders.chunk(2, dim=-1))
        pairs = first @ last.transpose(1, 2) * first.shape[-1] ** -0.5
        starts, ends = (self.types(borders) / 2).transpose(1, 2).chunk(2, dim=1)
        scores: Tensor = pairs[:, None] + starts[..., None] + ends[:, :, None, :]
        return scores


def rotated(vectors: Tensor) -> Tensor:
    """Turn each pair of neighbouring numbers by an angle that grows with the position.

    The product of two rotated vectors depends on how far apart they stand, not on where.

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


def build_tagger(config: AlbertConfig, num_types: int, head: Head) -> nn.Module:
    """Return the network of a head.

    Raises:
        ConfigError: If there is no such head, or no type.
    """
    if num_types < 1:
        raise ConfigError(f"num_types must be at least 1, got {num_types}")
    match head:
        case "softmax" | "crf":
            return TokenTagger(config, num_types, transitions=head == "crf")
        case "span":
            return SpanTagger(config, num_types)
        case "global_pointer":
            return GlobalPointerTagger(config, num_types)
        case _:
            raise ConfigError(f"unknown head {head!r}; {nearest(str(head), HEADS)}")


def _encoder_without_pooler(config: AlbertConfig) -> AlbertEncoder:
    """An encoder whose pooler rests: it is kept for other tasks, but no tag depends on it."""
    encoder = AlbertEncoder(config)
    encoder.pooler.requires_grad_(False)
    return encoder
