"""Length-bucketed batches, cut by a budget of tokens rather than by a number of texts.

Padding is what slows down batches of texts of mixed length: at a fixed batch size of 32, most of
the work on short Chinese texts would be padding.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zh_albert.training.resume import seed_for

if TYPE_CHECKING:
    from zh_albert.training.loop import Batch  # loads accelerate, which inference does not need

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


class ShuffledSource:
    """Batches of texts, shuffled anew for each epoch; a ``BatchSource``.

    Args:
        sizes: Size of each text.
        load: Builds the batch of the texts with these indices. Random choices that differ between
            epochs are drawn from the generator it receives.
        batch_tokens: Tokens of a batch, padding included.
        seed: Determines the order, together with the epoch.
    """

    def __init__(
        self,
        sizes: Sequence[Size],
        load: Callable[[list[int], random.Random], Batch],
        *,
        batch_tokens: int,
        seed: int,
    ) -> None:
        self._sizes, self._load = sizes, load
        self._batch_tokens, self._seed = batch_tokens, seed

    def plan(self, epoch: int) -> list[tuple[int, list[int]]]:
        """Return the epoch's batches: a seed for each, and the indices of its texts."""
        rng = random.Random(seed_for(self._seed, epoch, 0))
        batches = shuffled_batches(self._sizes, self._batch_tokens, rng)
        return [(seed_for(self._seed, epoch, n), batch) for n, batch in enumerate(batches, start=1)]

    def load(self, item: tuple[int, list[int]]) -> Batch:
        """Build one batch."""
        seed, numbers = item
        return self._load(numbers, random.Random(seed))
