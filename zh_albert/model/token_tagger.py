"""The network that tags tokens: an encoder, a linear layer, and learned moves between tags."""

from __future__ import annotations

import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from zh_albert.model.config import AlbertConfig
from zh_albert.model.crf import Moves, Transitions, log_likelihood
from zh_albert.model.dropout import Dropout
from zh_albert.model.encoder import AlbertEncoder, init_weights


class TokenTagger(nn.Module):
    """Score tags for each token; with ``transitions`` also the moves between them.

    Without transitions ``transformers.AlbertForTokenClassification`` computes the same.

    Args:
        config: Sizes of the encoder.
        legal: Which tag may follow which, one row a tag.
        transitions: Learn how tags follow each other (a conditional random field).
    """

    def __init__(self, config: AlbertConfig, legal: Moves, *, transitions: bool) -> None:
        super().__init__()
        self.encoder = encoder_without_pooler(config)
        self.dropout = Dropout(config.classifier_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, len(legal.start))
        init_weights(self.classifier, config.initializer_range)
        self.transitions = Transitions(legal) if transitions else None

    @property
    def architecture(self) -> str | None:
        """The class of ``transformers`` that computes the same; None if there is none."""
        return None if self.transitions else "AlbertForTokenClassification"

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

    def losses(self, emissions: Tensor, mask: Tensor, tags: Tensor) -> Tensor:
        """Return the negative log-probability of each text's tags, in nats. Shape: (texts,).

        Args:
            emissions: Scores of tags. Shape: (texts, tokens, tags).
            mask: True where a text has a token. Shape: (texts, tokens).
            tags: The right ones. Shape: (texts, tokens).
        """
        if self.transitions is None:
            each = F.cross_entropy(emissions.transpose(1, 2), tags, reduction="none")
            return (each * mask).sum(1)
        return -log_likelihood(emissions, mask, self.transitions(), tags)


def encoder_without_pooler(config: AlbertConfig) -> AlbertEncoder:
    """Return an encoder whose pooler is not trained: other tasks need it, but no tag does."""
    encoder = AlbertEncoder(config)
    encoder.pooler.requires_grad_(False)
    return encoder
