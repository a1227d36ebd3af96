"""Length-bucketed batches, cut by a budget of tokens rather than by a number of texts.

Padding is what slows down batches of texts of mixed length: at a fixed batch size of 32, most of
the work on short Chinese texts would be padding.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from zh_albert.training.resume import seed_for

_POOL = 4096  # texts sorted by length together: large for little padding, small for randomness


@dataclass(frozen=True, slots=True)
class Size:
    """Size of one text in a batch: its windows (rows), each padded to the batch's longest row."""

    rows: int
    length: int

    def within(self, tokens: int) -> Size:
        """Return the size reduced to as many windows as fit in ``tokens``, at least one."""
        return Size(max(1, min(self.rows, tokens // self.length)), self.length)


def budget_batches(order: Sequence[int], sizes: Sequence[Size], max_tokens: int) -> list[list[int]]:
    """Cut ``order`` into batches whose padded size stays within ``max_tokens``.

    A text that exceeds the budget by itself becomes a batch of its own.

    >>> sizes = [Size(1, 10), Size(1, 12), Size(3, 20), Size(1, 20)]
    >>> budget_batches([0, 1, 2, 3], sizes, 30)
    [[0, 1], [2], [3]]
    """
    batches: list[list[int]] = []
    rows = length = 0
    for index in order:
        size = sizes[index]
        rows, length = rows + size.rows, max(length, size.length)
        if not batches or rows * length > max_tokens:
            batches.append([])
            rows, length = size.rows, size.length
        batches[-1].append(index)
    return batches


def sorted_batches(sizes: Sequence[Size], max_tokens: int) -> list[list[int]]:
    """Return batches of texts of similar length, shortest first; every index occurs once."""
    order = sorted(range(len(sizes)), key=lambda index: (sizes[index].length, sizes[index].rows))
    return budget_batches(order, sizes, max_tokens)


def shuffled_batches(sizes: Sequence[Size], max_tokens: int, rng: random.Random) -> list[list[int]]:
    """Return one epoch's batches in random order, each of random texts of similar length."""
    order = list(range(len(sizes)))
    rng.shuffle(order)
    batches: list[list[int]] = []
    for start in range(0, len(order), _POOL):
        pool = sorted(order[start : start + _POOL], key=lambda index: sizes[index].length)
        batches += budget_batches(pool, sizes, max_tokens)
    rng.shuffle(batches)
    return batches


class SeededBatch(NamedTuple):
    """One batch of an epoch: the seed of its random choices and the indices of its texts."""

    seed: int
    texts: list[int]


def seeded_batches(
    sizes: Sequence[Size], batch_tokens: int, *, seed: int, epoch: int
) -> list[SeededBatch]:
    """Return an epoch's batches of texts, in an order determined by seed and epoch.

    Args:
        sizes: Size of each text.
        batch_tokens: Tokens of a batch, padding included.
        seed: Of the run.
        epoch: From 0.
    """
    rng = random.Random(seed_for(seed, epoch, 0))
    batches = shuffled_batches(sizes, batch_tokens, rng)
    return [
        SeededBatch(seed_for(seed, epoch, number), batch)
        for number, batch in enumerate(batches, start=1)
    ]
