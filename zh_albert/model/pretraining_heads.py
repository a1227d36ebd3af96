"""Masked-LM and sentence-order heads, and the encoder together with them."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder, init_weights
from zh_albert.model.layer import build_activation
from zh_albert.model.lstm_encoder import build_encoder


class MaskedLmHead(nn.Module):
    """Head that predicts the original token at each masked position.

    The output matrix is the word embedding itself, passed to ``forward`` rather than stored, so
    that the tie cannot be lost by a copy or a state-dict load. In brightmart's embedding layout the
    head has hidden size, and the transposed projection of the embeddings leads back to embedding
    size.

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
        """Return logits. Shape: (masked, vocab); ``masked`` is the number in the whole batch.

        Args:
            hidden: Last layer's output. Shape: (batch, length, hidden).
            positions: Row and column of each masked token. Shape: (masked, 2).
            word_embeddings: The encoder's word table. Shape: (vocab, embedding).
            projection: The embeddings' projection, in brightmart's layout only. Shape: (hidden,
                embedding).
        """
        picked = hidden[positions[:, 0], positions[:, 1]]  # (masked, hidden)
        picked = self.norm(self.activation(self.dense(picked)))
        if projection is not None:
            picked = picked @ projection  # (masked, embedding)
        return F.linear(picked, word_embeddings, self.bias)


class SentenceOrderHead(nn.Module):
    """Head that predicts whether two texts are in their original order (label 0) or swapped (label
    1).

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
    """Encoder with masked-LM and sentence-order heads."""

    architecture: ClassVar[str] = "AlbertForPreTraining"
    """The class of ``transformers`` that computes the same."""

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        self.encoder = build_encoder(config)
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
        """Return the masked-LM logits only. Shape: (masked, vocab).

        Args:
            hidden: Last layer's output. Shape: (batch, length, hidden).
            positions: Row and column of each masked token. Shape: (masked, 2).
        """
        return masked_logits(self.encoder, self.masked_lm, hidden, positions)


Pretrained = AlbertEncoder | AlbertForPretraining
"""A pretrained encoder, alone or with its pretraining heads."""


class EncoderOutputs(nn.Module):
    """A pretrained encoder as a network without further arguments, as runtimes run it.

    Args:
        pretrained: Shared, not copied.
    """

    def __init__(self, pretrained: Pretrained) -> None:
        super().__init__()
        self.encoder: AlbertEncoder
        self.masked_lm: MaskedLmHead | None
        if isinstance(pretrained, AlbertEncoder):
            self.encoder, self.masked_lm = pretrained, None
        else:
            self.encoder, self.masked_lm = pretrained.encoder, pretrained.masked_lm

    def forward(self, token_ids: Tensor, type_ids: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        """Return the masked-LM logits of every token, if there is a head, and the hidden states.

        See ``AlbertEncoder`` for the arguments.

        Returns:
            Shape: (batch, length, vocab), (batch, length, hidden).
        """
        hidden = self.encoder(token_ids, type_ids, mask).hidden
        if self.masked_lm is None:
            return (hidden,)
        everywhere = torch.ones_like(mask).nonzero()
        logits = masked_logits(self.encoder, self.masked_lm, hidden, everywhere)
        return logits.view(*mask.shape, -1), hidden


def masked_logits(
    encoder: AlbertEncoder, head: MaskedLmHead, hidden: Tensor, positions: Tensor
) -> Tensor:
    """Return the masked-LM logits. Shape: (masked, vocab).

    Args:
        encoder: Has the word table.
        head: The head.
        hidden: Its last layer's output. Shape: (batch, length, hidden).
        positions: Row and column of each masked token. Shape: (masked, 2).
    """
    embeddings = encoder.embeddings
    projection = embeddings.projection.weight if embeddings.projects_first else None
    logits: Tensor = head(hidden, positions, embeddings.word.weight, projection)
    return logits


# Not compiled, because the number of columns depends on the data. The same as
# torch.compiler.disable, which would load the compiler, for seconds, at import time.
@torch._disable_dynamo  # type: ignore[attr-defined]
def _columns(positions: Tensor, batch: int) -> tuple[Tensor, Tensor]:
    """Return the columns needed of each row, always including the first, padded to one length.

    Args:
        positions: Row and column of each masked token. Shape: (masked, 2).
        batch: Number of rows.

    Returns:
        Columns, 0 as padding; Shape: (batch, columns). Row and place of each of ``positions`` among
        them; Shape: (masked, 2).
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
