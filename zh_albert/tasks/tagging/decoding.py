"""Decoding of texts to their best legal tags, several at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from zh_albert.model.crf import Transitions, viterbi
from zh_albert.training.batching import Size, sorted_batches

_TOKENS = 8192  # decoded at a time


def decoded(
    emissions: Sequence[Tensor], transitions: Transitions
) -> Iterator[tuple[list[int], Tensor, Tensor, Tensor]]:
    """Decode texts in batches of similar length.

    Args:
        emissions: Of each text. Shape of each: (tokens, tags).
        transitions: Scores in double precision; see ``Transitions.exact``.

    Yields:
        The numbers of a batch's texts; their emissions in double precision, Shape: (texts, length,
        tags); the mask, True for tokens, then padding; and the best tags. Shape of both: (texts,
        length).
    """
    for numbers in sorted_batches([Size(1, len(one)) for one in emissions], _TOKENS):
        lengths = torch.tensor([len(emissions[number]) for number in numbers])
        # Double precision, because sums over a very long text would lose small differences.
        batch = pad_sequence([emissions[number].double() for number in numbers], batch_first=True)
        mask = torch.arange(batch.shape[1]) < lengths[:, None]
        yield numbers, batch, mask, viterbi(batch, mask, transitions)
