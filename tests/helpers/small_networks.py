"""Encoders and a classifier of a few thousand weights, and batches with padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.training.loop import UNITS

SIZES = AlbertConfig(
    vocab_size=40,
    embedding_size=6,
    hidden_size=12,
    num_hidden_layers=3,
    num_attention_heads=3,
    intermediate_size=20,
    max_position_embeddings=24,
    initializer_range=0.4,  # wide, so that faults show
    sharing="none",
)


def small_encoder(seed: int = 0, **changes: Any) -> AlbertEncoder:
    """Return an encoder with random weights, in training mode; biases and norms are random, too."""
    torch.manual_seed(seed)
    encoder = AlbertEncoder(replace(SIZES, **changes))
    with torch.no_grad():
        for parameter in encoder.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.2 * torch.randn(parameter.shape))
    return encoder


class SmallClassifier(nn.Module):
    """Logits of three classes from the mean over tokens. Shape: (batch, 3).

    Args:
        seed: Of the weights.
        changes: To the sizes.
    """

    def __init__(self, seed: int = 0, **changes: Any) -> None:
        super().__init__()
        self.encoder = small_encoder(seed, **changes)
        self.head = nn.Linear(self.encoder.config.hidden_size, 3)

    def forward(self, token_ids: Tensor, type_ids: Tensor, mask: Tensor) -> Tensor:
        hidden = self.encoder(token_ids, type_ids, mask).hidden
        real = mask[..., None].float()
        logits: Tensor = self.head((hidden * real).sum(1) / real.sum(1))
        return logits


def small_batch(
    lengths: Sequence[int] = (9, 5, 7), *, longest: int | None = None, seed: int = 0
) -> dict[str, Tensor]:
    """Return a batch of random tokens.

    Args:
        lengths: Of the texts.
        longest: To which they are padded.
        seed: Of the tokens, which do not depend on the padding.
    """
    generator = torch.Generator().manual_seed(seed)
    width = longest or max(lengths)
    ids = torch.zeros(len(lengths), width, dtype=torch.long)
    for row, length in enumerate(lengths):
        ids[row, :length] = torch.randint(1, SIZES.vocab_size, (length,), generator=generator)
    mask = torch.arange(width) < torch.tensor(lengths)[:, None]
    types = (torch.arange(width) > 3).long().expand_as(ids) * mask
    return {"token_ids": ids, "type_ids": types, "mask": mask}


def counted(batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return a batch as the training loop gives it to objectives: with what it counts."""
    return {**batch, UNITS: torch.tensor(len(batch["mask"]))}
