"""Batches of masked instances as arrays, built in a few numpy calls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zh_albert.pretraining.counter_rng import below, draw, uniform
from zh_albert.pretraining.instances import Epoch
from zh_albert.pretraining.masking import (
    AS_MASK,
    AS_RANDOM,
    MaskingChoice,
    MaskingConfig,
    WordBatch,
    choose_words,
)
from zh_albert.pretraining.shards import Shards
from zh_albert.tokenization.token_sets import TokenSets

_REPLACEMENT, _WHOLE = 201, 202  # streams of ``counter_rng.draw``


class InstanceBatch(NamedTuple):
    """A padded batch of masked instances."""

    token_ids: NDArray[np.int64]
    """Input of the model. Shape: (batch, length)."""
    type_ids: NDArray[np.int64]
    """0 for the first text, 1 for the second. Shape: (batch, length)."""
    mask: NDArray[np.bool_]
    """True where a token may be attended to. Shape: (batch, length)."""
    positions: NDArray[np.int64]
    """Row and column of each token to predict, in order. Shape: (masked, 2)."""
    labels: NDArray[np.int64]
    """Original tokens at these positions. Shape: (masked,)."""
    order: NDArray[np.int64]
    """0 in order, 1 swapped, -1 for a single text or two equal ones. Shape: (batch,)."""


class DrawnBatch(NamedTuple):
    """A batch and the choices behind it, for the audit and for tests."""

    batch: InstanceBatch
    words: WordBatch
    choice: MaskingChoice
    word_columns: NDArray[np.int64]
    """Column of each word's first token. Shape: (words,)."""


def draw_batch(
    shards: Shards,
    epoch: Epoch,
    numbers: NDArray[np.int64],
    sets: TokenSets,
    masking: MaskingConfig,
    *,
    multiple_of: int = 1,
    most: int | None = None,
) -> DrawnBatch:
    """Build the arrays of some instances of an epoch.

    Args:
        shards: The corpus.
        epoch: From ``plan_epoch``.
        numbers: Indices of the instances, at least one. An instance does not depend on the others
            of its batch.
        sets: Of the tokenizer that the shards were made with.
        masking: Settings of masking.
        multiple_of: The length is rounded up to a multiple, so that few shapes occur,
        most: but to no more than that.
    """
    keys, starts = epoch.keys[numbers], epoch.starts[numbers]
    first, second = epoch.first[numbers], epoch.second[numbers]
    swapped, is_pair = epoch.swapped[numbers], second > 0
    counts = first + second
    ids, word_starts = shards.gather(starts, counts)
    ends = np.cumsum(counts)
    word_starts[ends - counts] = True  # also where an overlong word was cut

    # Tokens are in the order of the text; a swap changes only their columns.
    rows = np.repeat(np.arange(len(numbers)), counts)
    if masking.whole_word_share < 1:
        word_starts |= (uniform(draw(keys, _WHOLE)) >= masking.whole_word_share)[rows]
    within = np.arange(len(ids)) - np.repeat(ends - counts, counts)
    in_second = within >= np.repeat(first, counts)
    a_column = np.where(swapped, second + 2, 1)
    b_column = np.where(swapped, 1, first + 2) - first
    columns = within + np.where(in_second, b_column[rows], a_column[rows])

    begins = np.flatnonzero(word_starts)
    lengths = np.diff(begins, append=len(ids))
    words = WordBatch(
        lengths=lengths,
        rows=rows[begins],
        segments=(2 * rows + in_second)[begins],
        allowed=~np.logical_or.reduceat(ids == sets.special.unk, begins),
    )
    choice = choose_words(words, keys, masking)
    action = np.repeat(choice.action, lengths)
    read = np.where(action == AS_MASK, sets.special.mask, ids).astype(np.int64)
    random = np.flatnonzero(action == AS_RANDOM)
    bits = draw(keys[rows[random]], _REPLACEMENT, within[random])
    read[random] = sets.plain[below(bits, len(sets.plain))]

    sizes = counts + np.where(is_pair, 3, 2)
    longest = int(sizes.max())
    rounded = -(-longest // multiple_of) * multiple_of
    length = rounded if most is None else max(longest, min(rounded, most))
    token_ids = np.full((len(numbers), length), sets.special.pad, np.int64)
    token_ids[rows, columns] = read
    every = np.arange(len(numbers))
    first_sep = np.where(swapped, second, first) + 1
    token_ids[:, 0] = sets.special.cls
    token_ids[every, first_sep] = sets.special.sep
    token_ids[every, sizes - 1] = sets.special.sep
    column = np.arange(length)
    mask = column < sizes[:, None]
    type_ids = ((column > first_sep[:, None]) & mask).astype(np.int64)

    originals = np.full((len(numbers), length), -1, np.int64)
    chosen = np.flatnonzero(action)
    originals[rows[chosen], columns[chosen]] = ids[chosen]
    positions = np.argwhere(originals >= 0)
    batch = InstanceBatch(
        token_ids=token_ids,
        type_ids=type_ids,
        mask=mask,
        positions=positions,
        labels=originals[positions[:, 0], positions[:, 1]],
        order=_order(ids, ends, first, second, swapped),
    )
    return DrawnBatch(batch, words, choice, columns[begins])


def _order(
    ids: NDArray[np.uint16],
    ends: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    swapped: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Return the sentence-order labels of instances whose tokens are concatenated in ``ids``."""
    order = np.where(second > 0, swapped.astype(np.int64), -1)
    for row in np.flatnonzero((first == second) & (second > 0)):
        middle, end = ends[row] - second[row], ends[row]
        if np.array_equal(ids[middle - first[row] : middle], ids[middle:end]):
            order[row] = -1
    return order
