"""Task heads on top of the encoder: classification of texts and mean vectors."""

from __future__ import annotations

from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from zh_albert.errors import ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.dropout import Dropout
from zh_albert.model.encoder import init_weights
from zh_albert.model.lstm_encoder import build_encoder, encoder_without_pooler

Pooling = Literal["first", "mean"]


class SequenceClassifier(nn.Module):
    """Classifier of a text, or a pair of texts, as a whole.

    Args:
        config: Sizes of the encoder.
        num_labels: Number of classes.
        pooling: Input of the pooler's dense layer: ``first``, the first token, as in
            ``transformers.AlbertForSequenceClassification``; ``mean``, the mean over all tokens
            that may be attended to. Both have the same parameters.
    """

    def __init__(
        self, config: AlbertConfig, num_labels: int, *, pooling: Pooling = "first"
    ) -> None:
        super().__init__()
        if num_labels < 1:
            raise ConfigError(f"num_labels must be at least 1, got {num_labels}")
        if pooling not in ("first", "mean"):
            raise ConfigError(f"pooling must be 'first' or 'mean', got {pooling!r}")
        self.pooling = pooling
        self.encoder = build_encoder(config)
        self.dropout = Dropout(config.classifier_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, num_labels)
        init_weights(self.classifier, config.initializer_range)

    @property
    def architecture(self) -> str | None:
        """The class of ``transformers`` that computes the same; None if there is none."""
        return "AlbertForSequenceClassification" if self.pooling == "first" else None

    def forward(self, token_ids: Tensor, type_ids: Tensor, mask: Tensor) -> Tensor:
        """Return logits. Shape: (batch, labels).

        Args:
            token_ids: Vocabulary ids. Shape: (batch, length).
            type_ids: 0 for the first text, 1 for the second. Shape: (batch, length).
            mask: True where a token may be attended to. Shape: (batch, length).
        """
        pooled = torch.tanh(self.encoder.pooler(self.summary(token_ids, type_ids, mask)))
        logits: Tensor = self.classifier(self.dropout(pooled))
        return logits

    def summary(self, token_ids: Tensor, type_ids: Tensor, mask: Tensor) -> Tensor:
        """Return the summary of each text, see ``pooling``. Shape: (batch, hidden).

        Args: see ``forward``.
        """
        if self.pooling == "mean":
            return masked_mean(self.encoder(token_ids, type_ids, mask).hidden, mask)
        # The last layer is computed for the first token only.
        first = torch.zeros_like(token_ids[:, :1])
        return self.encoder.encode_some(token_ids, type_ids, mask, first)[:, 0]


class MeanEncoder(nn.Module):
    """Text encoder with the mean over its tokens as output.

    Args:
        config: Sizes of the encoder.
    """

    architecture: ClassVar[str] = "AlbertModel"

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        self.encoder = encoder_without_pooler(config)

    def forward(self, token_ids: Tensor, type_ids: Tensor, mask: Tensor) -> Tensor:
        """Return vectors. Shape: (batch, hidden). See ``SequenceClassifier`` for the arguments."""
        return masked_mean(self.encoder(token_ids, type_ids, mask).hidden, mask)


def masked_mean(hidden: Tensor, mask: Tensor) -> Tensor:
    """Return the mean over the tokens of each row; zeros if a row has none. Shape: (batch, hidden).

    Args:
        hidden: Shape: (batch, length, hidden).
        mask: True for the tokens to average. Shape: (batch, length).
    """
    weights = mask.to(hidden.dtype)
    summed = torch.einsum("bl,blh->bh", weights, hidden)
    return summed / weights.sum(-1, keepdim=True).clamp(min=1)
