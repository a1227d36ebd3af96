"""Decoding of texts to their best legal tags, several at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from torch import Tensor

from zh_albert.model.crf_decoding import Floats, Ints, TransitionScores, best_tags
from zh_albert.training.batching import Size, sorted_batches

_TOKENS = 2048  # decoded at a time: transitions of some fifty texts fit a CPU's cache


def decoded(
    emissions: Sequence[Tensor], transitions: TransitionScores
) -> Iterator[tuple[list[int], Floats, Ints, Ints]]:
    """Decode texts in batches of similar length.

    Args:
        emissions: Of each text, at least one token. Shape of each: (tokens, tags).
        transitions: Scores between tags.

    Yields:
        The numbers of a batch's texts; their emissions, Shape: (texts, length, tags); their
        lengths, Shape: (texts,); and the best tags, 0 in the padding. Shape: (texts, length).
    """
    for numbers in sorted_batches([Size(1, len(one)) for one in emissions], _TOKENS):
        lengths = np.array([len(emissions[number]) for number in numbers])
        batch = np.zeros((len(numbers), lengths.max(), len(transitions.start)))
        for row, number in enumerate(numbers):
            batch[row, : lengths[row]] = emissions[number].double().numpy()
        yield numbers, batch, lengths, best_tags(batch, lengths, transitions)
