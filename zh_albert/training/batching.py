"""Batches of about equally long texts, cut by a budget of tokens rather than by a count.

Padding is what slows batches of texts of mixed length: at a fixed batch size of 32 most of the
work on short Chinese texts would be padding.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from zh_albert.training.resume import seed_for

_POOL = 4096  # texts sorted together: long enough for little padding, short enough to stay random


@dataclass(frozen=True, slots=True)
class Size:
    """What a text costs in a batch: its windows (rows), each padded to the batch's longest."""

    rows: int
    length: int

    def within(self, tokens: int) -> Size:
        """Return the size with as many windows as fit so many tokens, at least one."""
        return Size(max(1, min(self.rows, tokens // self.length)), self.length)


def budget_batches(order: Sequence[int], sizes: Sequence[Size], max_tokens: int) -> list[list[int]]:
    """Cut ``order`` into batches whose padded size stays within ``max_tokens``.

    A text that is larger than the budget alone makes a batch of its own.

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
    """Return batches of texts of like length, shortest first; every index occurs once."""
    order = sorted(range(len(sizes)), key=lambda index: (sizes[index].length, sizes[index].rows))
    return budget_batches(order, sizes, max_tokens)


def shuffled_batches(sizes: Sequence[Size], max_tokens: int, rng: random.Random) -> list[list[int]]:
    """Return one epoch's batches: random texts, of like length within a batch, in random order."""
    order = list(range(len(sizes)))
    rng.shuffle(order)
    batches: list[list[int]] = []
    for start in range(0, len(order), _POOL):
        pool = sorted(order[start : start + _POOL], key=lambda index: sizes[index].length)
        batches += budget_batches(pool, sizes, max_tokens)
    rng.shuffle(batches)
    return batches


class SeededBatch(NamedTuple):
    """A batch of an epoch: what seeds its chance, and the indices of its texts."""

    seed: int
    texts: list[int]


def seeded_batches(
    sizes: Sequence[Size], batch_tokens: int, *, seed: int, epoch: int
) -> list[SeededBatch]:
    """Return an epoch's batches of texts, in an order that seed and epoch decide.

    Args:
        sizes: What each text costs.
        batch_tokens: Padded tokens of a batch.
        seed: Of the run.
        epoch: From 0.
    """
    rng = random.Random(seed_for(seed, epoch, 0))
    batches = shuffled_batches(sizes, batch_tokens, rng)
    return [
        SeededBatch(seed_for(seed, epoch, number), batch)
        for number, batch in enumerate(batches, start=1)
    ]
