"""Introspection of an encoder: attention, and the distance by which each layer moves its input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor

from zh_albert.checkpoints.pretrained_encoder import open_encoder
from zh_albert.checkpoints.tokenizers import matching_tokenizer
from zh_albert.checkpoints.verified import verified
from zh_albert.errors import DataError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.lstm_encoder import refuse_lstm
from zh_albert.model.sharing import LayerBlocks, unshared
from zh_albert.tokenization.encoding import build_input
from zh_albert.tokenization.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Attention:
    """Attention probabilities of a text.

    Attributes:
        tokens: Vocabulary rows, including ``[CLS]`` and ``[SEP]``.
        offsets: Character range of each token in the text; None for these two.
        probabilities: Rows sum to 1: a row for each attending token, a column for each attended
            token. Shape: (layers, heads, tokens, tokens). Heads that a layer of a pruned encoder
            lacks are 0.
    """

    tokens: list[str]
    offsets: list[tuple[int, int] | None]
    probabilities: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Movement:
    """Distance between input and output of each layer, mean over a text's tokens, special ones
    included.

    Attributes:
        distances: L2 distance of output and input. Shape: (layers,).
        cosines: Cosine of the angle between them. Shape: (layers,).
        degrees: Mean of the angle itself. Shape: (layers,).
    """

    distances: NDArray[np.float64]
    cosines: NDArray[np.float64]
    degrees: NDArray[np.float64]


class EncoderView:
    """Encoder of any model folder, with access to its internals.

    Attributes:
        config: Its sizes.
        tokenizer: Text → token ids.
    """

    def __init__(self, encoder: AlbertEncoder, tokenizer: Tokenizer) -> None:
        self.config, self.tokenizer = encoder.config, tokenizer
        self._encoder = encoder.eval()

    @classmethod
    def load(cls, folder: Path) -> EncoderView:
        """Open a model folder of any task; its head is ignored.

        Raises:
            CheckpointError: If it is not a model folder, or damaged.
            ConfigError: If its layers are LSTMs, without attention.
        """
        with verified(folder):
            encoder = open_encoder(folder)
            refuse_lstm(encoder.config, str(folder))
            return cls(encoder, matching_tokenizer(folder, encoder.config))

    @classmethod
    def untrained(cls, like: EncoderView) -> EncoderView:
        """Return a randomly initialized encoder of the same sizes, without shared parameters."""
        config: AlbertConfig = unshared(like.config)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return cls(AlbertEncoder(config), like.tokenizer)

    @property
    def plan(self) -> tuple[LayerBlocks, ...]:
        """Blocks that each layer runs."""
        return self._encoder.plan

    def count(self, text: str) -> int:
        """Return the number of tokens of a text, special ones included."""
        return len(self.tokenizer.encode(text)) + 2

    def attention(self, text: str) -> Attention:
        """Return the attention of a text.

        Raises:
            DataError: If the text is empty, or longer than the encoder's input.
        """
        ids, offsets = self._read(text)
        with torch.inference_mode():
            found = self._encoder(*_batch(ids), return_attention=True).attention
        assert found is not None
        heads = max(one.shape[1] for one in found)
        return Attention(
            tokens=self.tokenizer.tokens(ids),
            offsets=[None, *offsets, None],
            probabilities=torch.cat([_padded(one, heads) for one in found]).numpy(),
        )

    def movement(self, text: str) -> Movement:
        """Return the movement of a text's tokens by each layer.

        Source: Lan et al. 2020 (arXiv:1909.11942), figure 1.

        Raises:
            DataError: If the text is empty, or longer than the encoder's input.
        """
        ids, _ = self._read(text)
        with torch.inference_mode():
            found = self._encoder(*_batch(ids), return_states=True).states
        assert found is not None
        states = torch.cat(found).double()  # (layers + 1, tokens, hidden)
        before, after = states[:-1], states[1:]
        cosines = torch.cosine_similarity(before, after, dim=-1).clamp(-1, 1)
        return Movement(
            distances=(after - before).norm(dim=-1).mean(-1).numpy(),
            cosines=cosines.mean(-1).numpy(),
            degrees=cosines.acos().rad2deg().mean(-1).numpy(),
        )

    def _read(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the ids with special tokens, and the offsets without them."""
        encoding = self.tokenizer.encode(text)
        longest = self.config.max_position_embeddings
        if not encoding.ids:
            raise DataError("the text is empty (or only spaces and control characters)")
        if len(encoding) + 2 > longest:
            raise DataError(
                f"expected at most {longest - 2} tokens, found {len(encoding)}; shorten the text"
            )
        return build_input(self.tokenizer.special, encoding.ids).token_ids, encoding.offsets


def _padded(probabilities: Tensor, heads: int) -> Tensor:
    """Add heads of zeros. Shape: (1, a layer's heads, tokens, tokens) → (1, heads, …)."""
    return F.pad(probabilities, (0, 0, 0, 0, 0, heads - probabilities.shape[1]))


def _batch(ids: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
    """Return the token ids, type ids and mask of one text. Shape of each: (1, tokens)."""
    token_ids = torch.tensor([ids])
    return token_ids, torch.zeros_like(token_ids), torch.ones_like(token_ids, dtype=torch.bool)
