"""Token tagger: an encoder, a linear layer, and optionally a conditional random field."""

from __future__ import annotations

import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from zh_albert.model.config import AlbertConfig
from zh_albert.model.crf import LearnedTransitions, Transitions, fixed_transitions, log_likelihood
from zh_albert.model.dropout import Dropout
from zh_albert.model.encoder import init_weights
from zh_albert.model.lstm_encoder import encoder_without_pooler


class TokenTagger(nn.Module):
    """Network that scores the tags of each token; with ``transitions`` also those between tags.

    Without transitions ``transformers.AlbertForTokenClassification`` computes the same.

    Args:
        config: Sizes of the encoder.
        legal: Allowed transitions between tags.
        transitions: Learn their scores (a conditional random field).
    """

    def __init__(self, config: AlbertConfig, legal: Transitions, *, transitions: bool) -> None:
        super().__init__()
        self.encoder = encoder_without_pooler(config)
        self.dropout = Dropout(config.classifier_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, len(legal.start))
        init_weights(self.classifier, config.initializer_range)
        self.transitions = LearnedTransitions(legal) if transitions else None
        self._legal = legal

    @property
    def architecture(self) -> str | None:
        """The equivalent class of ``transformers``; None if there is none."""
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

    def transition_scores(self) -> Transitions:
        """Return the learned scores; else those that only express which transitions are legal."""
        return self.transitions() if self.transitions else fixed_transitions(self._legal)

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
