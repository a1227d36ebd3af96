"""Factorized embeddings: token ids to vectors of hidden size, through a narrower table."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from zh_albert.errors import ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.dropout import Dropout


class FactorizedEmbeddings(nn.Module):
    """Word, position and type embeddings, in either published layout.

    ``google``: all three, of embedding size, are added and normalized, then projected to hidden
    size with a bias. ``brightmart``: words are projected without a bias, then position and type
    embeddings of hidden size are added and the sum is normalized.

    Source: google-research/albert, modeling.py (AlbertModel); brightmart/albert_zh, modeling.py
    (embedding_lookup_factorized, embedding_postprocessor).
    """

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        self.projects_first = config.embedding_layout == "brightmart"
        width = config.hidden_size if self.projects_first else config.embedding_size
        self.word = nn.Embedding(
            config.vocab_size, config.embedding_size, padding_idx=config.pad_token_id
        )
        self.position = nn.Embedding(config.max_position_embeddings, width)
        self.token_type = nn.Embedding(config.type_vocab_size, width)
        self.norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.projection = nn.Linear(
            config.embedding_size, config.hidden_size, bias=not self.projects_first
        )
        self.dropout = Dropout(config.hidden_dropout_prob)

    def forward(self, token_ids: Tensor, type_ids: Tensor) -> Tensor:
        """Return the encoder's input. Shape: (batch, length, hidden).

        Args:
            token_ids: Vocabulary ids. Shape: (batch, length).
            type_ids: 0 for the first text, 1 for the second. Shape: (batch, length).

        Raises:
            ConfigError: If there are more tokens than positions.
        """
        length = token_ids.shape[-1]
        if length > self.position.num_embeddings:
            raise ConfigError(
                f"{length} tokens are too many for this model: max_position_embeddings is "
                f"{self.position.num_embeddings}; split the text into windows or truncate it"
            )
        positions = torch.arange(length, device=token_ids.device)
        words = self.word(token_ids)
        if self.projects_first:
            words = self.projection(words)
        added = words + self.token_type(type_ids) + self.position(positions)
        embedded: Tensor = self.dropout(self.norm(added))
        if not self.projects_first:
            embedded = self.projection(embedded)
        return embedded
