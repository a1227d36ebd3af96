"""The two heads of pretraining, and the encoder together with them."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder, init_weights
from zh_albert.model.layer import build_activation


class MaskedLmHead(nn.Module):
    """Predict the original token at each masked position.

    The output matrix is the word embedding itself, handed to ``forward`` rather than stored, so
    that the tie cannot be lost by a copy or a state-dict load. In brightmart's embedding layout
    the head works at hidden width, and the embeddings' own projection, transposed, leads back to
    embedding width.

    Source: google-research/albert, run_pretraining.py, and brightmart/albert_zh,
    run_pretraining.py, get_masked_lm_output in both.
    """

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        is_google = config.embedding_layout == "google"
        width = config.embedding_size if is_google else config.hidden_size
        self.dense = nn.Linear(config.hidden_size, width)
        self.activation = build_activation(config.hidden_act)
        self.norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        init_weights(self, config.initializer_range)

    def forward(
        self,
        hidden: Tensor,
        positions: Tensor,
        word_embeddings: Tensor,
        projection: Tensor | None = None,
    ) -> Tensor:
        """Return logits. Shape: (masked, vocab); ``masked`` counts the whole batch.

        Args:
            hidden: Last layer's output. Shape: (batch, length, hidden).
            positions: Row and column of each masked token. Shape: (masked, 2).
            word_embeddings: The encoder's own table. Shape: (vocab, embedding).
            projection: The embeddings' own projection, in brightmart's layout only. Shape:
                (hidden, embedding).
        """
        picked = hidden[positions[:, 0], positions[:, 1]]  # (masked, hidden)
        picked = self.norm(self.activation(self.dense(picked)))
        if projection is not None:
            picked = picked @ projection  # (masked, embedding)
        return F.linear(picked, word_embeddings, self.bias)


class SentenceOrderHead(nn.Module):
    """Tell whether two texts stand in their original order (label 0) or swapped (label 1).

    Source: Lan et al. 2020 (arXiv:1909.11942), section 3.1; labels as in ``transformers``.
    """

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        self.classifier = nn.Linear(config.hidden_size, 2)
        init_weights(self, config.initializer_range)

    def forward(self, pooled: Tensor) -> Tensor:
        """Return logits. Shape: (batch, 2).

        Args:
            pooled: ``AlbertEncoder.pool``'s output. Shape: (batch, hidden).
        """
        logits: Tensor = self.classifier(pooled)
        return logits


class PretrainingOutput(NamedTuple):
    """Logits of both heads."""

    masked: Tensor
    """Shape: (masked, vocab)."""
    order: Tensor
    """Shape: (batch, 2)."""


class AlbertForPretraining(nn.Module):
    """An encoder with its masked-LM and sentence-order heads."""

    architecture: ClassVar[str] = "AlbertForPreTraining"
    """The class of ``transformers`` that computes the same."""

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        self.encoder = AlbertEncoder(config)
        self.masked_lm = MaskedLmHead(config)
        self.sentence_order = SentenceOrderHead(config)

    def forward(
        self, token_ids: Tensor, type_ids: Tensor, mask: Tensor, positions: Tensor
    ) -> PretrainingOutput:
        """Return the logits of both heads.

        Args:
            token_ids: Vocabulary ids, some masked. Shape: (batch, length).
            type_ids: 0 for the first text, 1 for the second. Shape: (batch, length).
            mask: True where a token may be attended to. Shape: (batch, length).
            positions: Row and column of each masked token; may be none. Shape: (masked, 2).
        """
        columns, places = _columns(positions, len(token_ids))
        hidden = self.encoder.encode_some(token_ids, type_ids, mask, columns)
        return PretrainingOutput(
            masked=self.masked_logits(hidden, places),
            order=self.sentence_order(self.encoder.pool(hidden)),
        )

    def masked_logits(self, hidden: Tensor, positions: Tensor) -> Tensor:
        """Return the masked-LM logits alone. Shape: (masked, vocab).

        Args:
            hidden: Last layer's output. Shape: (batch, length, hidden).
            positions: Row and column of each masked token. Shape: (masked, 2).
        """
        embeddings = self.encoder.embeddings
        projection = embeddings.projection.weight if embeddings.projects_first else None
        logits: Tensor = self.masked_lm(hidden, positions, embeddings.word.weight, projection)
        return logits


# Not compiled, for how many columns there are depends on the data. This is torch.compiler.disable,
# but it loads the compiler, which takes seconds, only where it is called.
@torch._disable_dynamo  # type: ignore[attr-defined]
def _columns(positions: Tensor, batch: int) -> tuple[Tensor, Tensor]:
    """Say which columns of each row are asked for, the first always; rows of one length.

    Args:
        positions: Row and column of each masked token. Shape: (masked, 2).
        batch: Number of rows.

    Returns:
        Columns, 0 where a row has no more; Shape: (batch, asked). And where each of ``positions``
        is among them: its row and its place; Shape: (masked, 2).
    """
    order = positions[:, 0].argsort(stable=True)
    rows = positions[order, 0]
    counts = rows.bincount(minlength=batch)
    places = torch.empty_like(rows)
    numbers = torch.arange(len(rows), device=rows.device)
    places[order] = 1 + numbers - (counts.cumsum(0) - counts)[rows]
    columns = positions.new_zeros(batch, 1 + int(counts.max()))
    columns[positions[:, 0], places] = positions[:, 1]
    return columns, torch.stack([positions[:, 0], places], dim=1)
