"""Choice of the tokens to mask: pure functions of words and a random generator.

They use no tokenizer, no tensor and no global seed, so the demo shows, and a cluster repeats,
exactly what pretraining does.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zh_albert.errors import ConfigError
from zh_albert.pretraining.counter_rng import Keys, draw, uniform


def choose_whole_words(
    words: Sequence[range], rng: random.Random, *, rate: float = 0.15
) -> list[int]:
    """Choose token positions to mask: all of a word's tokens, or none of them.

    Words are visited in random order, and each that still fits the budget (``rate`` of all tokens,
    rounded) is chosen. If not even the shortest word fits, the shortest is chosen (at random among
    several), so that every text has something to predict; only then is the budget exceeded.

    Args:
        words: Token ranges that do not overlap, as from ``tokenization.words.word_ranges``. Special
            tokens belong to none, so they are never chosen.
        rng: Source of randomness.
        rate: Fraction of the tokens to mask, in (0, 1].

    Returns:
        Positions in ascending order. Empty if there are no words.

    Raises:
        ConfigError: If ``rate`` is out of range.

    >>> words = [range(1, 3), range(3, 5), range(5, 9)]  # 使用 | 语言 | 模型预测
    >>> choose_whole_words(words, random.Random(0), rate=0.25)
    [3, 4]
    """
    if not 0 < rate <= 1:
        raise ConfigError(f"rate must be above 0 and at most 1, found {rate}")
    order = rng.sample(range(len(words)), len(words))
    room = round(rate * sum(map(len, words)))
    chosen: list[int] = []
    for index in order:
        word = words[index]
        if len(word) <= room:
            chosen += word
            room -= len(word)
            if not room:
                break
    if not chosen and order:
        chosen += words[min(order, key=lambda index: len(words[index]))]
    return sorted(chosen)


@dataclass(frozen=True, kw_only=True)
class MaskingConfig:
    """Amount of masking, and what replaces the chosen words."""

    rate: float = 0.15  # fraction of an instance's tokens, [CLS] and [SEP] excluded
    whole_word_share: float = 1.0  # of instances; in the others, every token counts as a word
    max_ngram: int = 3  # most words masked together; n words have a probability ∝ 1/n
    mask_share: float = 0.8  # of the chosen words: [MASK] for each token
    random_share: float = 0.1  # of the chosen words: random tokens; the rest is not replaced

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise ConfigError(f"rate must be above 0 and at most 1, found {self.rate}")
        if self.max_ngram < 1:
            raise ConfigError(f"max_ngram must be at least 1, found {self.max_ngram}")
        if not 0 <= self.whole_word_share <= 1:
            raise ConfigError(
                f"whole_word_share must be from 0 to 1, found {self.whole_word_share}"
            )
        shares = (self.mask_share, self.random_share)
        if not (all(share >= 0 for share in shares) and sum(shares) <= 1 + 1e-9):  # nor NaN
            raise ConfigError(
                "mask_share and random_share must be at least 0 and together at most 1, found "
                f"{self.mask_share} and {self.random_share}"
            )


EVERY_CHOSEN_TOKEN = MaskingConfig(max_ngram=1, mask_share=1.0, random_share=0.0)
"""For evaluation: every chosen word is masked, none can be copied."""


class WordBatch(NamedTuple):
    """The words of several instances, concatenated. Shape of each: (words,)."""

    lengths: NDArray[np.int64]  # tokens of each word
    rows: NDArray[np.int64]  # index of its instance, ascending from 0
    segments: NDArray[np.int64]  # ascending; n-grams do not cross from one into the next
    allowed: NDArray[np.bool_]  # False: never masked (contains [UNK])


class MaskingChoice(NamedTuple):
    """Treatment of each word. Shape of each: (words,)."""

    action: NDArray[np.uint8]
    """``KEPT_OUT`` for a word that was not chosen; else ``AS_MASK``, ``AS_RANDOM`` or ``AS_IS``."""
    ngram: NDArray[np.int64]
    """Ascending number of the word's n-gram, chosen or not."""
    topped_up: NDArray[np.bool_]
    """True for single words that were chosen to fill the rest of the budget."""


KEPT_OUT, AS_MASK, AS_RANDOM, AS_IS = range(4)
_SIZES, _ORDER, _TOP_UP, _ACTION = range(4)  # streams of ``counter_rng.draw``


def choose_words(words: WordBatch, keys: Keys, config: MaskingConfig) -> MaskingChoice:
    """Choose the words to predict in a batch of instances; each instance depends on its key only.

    The budget of an instance is ``rate`` of its tokens, rounded. The words are divided into
    n-grams, with n drawn as p(n) ∝ 1/n (shorter at the end of a segment or before a word that is
    not allowed). N-grams are visited in random order and chosen up to the first that exceeds the
    remaining budget. The rest is filled with single words in random order, each chosen if it fits.
    So the budget is never exceeded, and the rest that remains is smaller than the shortest allowed
    word left; it is 0 if one of a single token is left. The one exception: if every allowed word is
    longer than the budget, the shortest is chosen (at random among several), so that there is
    something to learn.

    Args:
        words: Of all instances; every instance has at least one.
        keys: One for each instance. Shape: (batch,).
        config: Settings of masking.
    """
    counts = np.bincount(words.rows, minlength=len(keys))
    firsts = np.cumsum(counts) - counts
    local = np.arange(len(words.rows)) - firsts[words.rows]
    tokens = np.bincount(words.rows, weights=words.lengths, minlength=len(keys))
    room = np.rint(config.rate * tokens).astype(np.int64)

    begins = _ngram_starts(words, keys, local, firsts, counts, config.max_ngram)
    grams = np.flatnonzero(begins)
    gram_of_word = np.cumsum(begins) - 1
    gram_lengths = np.add.reduceat(words.lengths, grams)
    usable = np.flatnonzero(words.allowed[grams])
    order = usable[_random_order(keys, _ORDER, words.rows[grams[usable]], local[grams[usable]])]
    order_rows = words.rows[grams[order]]
    taken = np.zeros(len(grams), np.bool_)
    taken[order[_running(gram_lengths[order], order_rows) <= room[order_rows]]] = True
    chosen = taken[gram_of_word]
    room -= np.bincount(words.rows, weights=words.lengths * chosen, minlength=len(keys)).astype(
        np.int64
    )

    topped_up = _top_up(words, keys, local, chosen, room)
    chosen |= topped_up
    return MaskingChoice(_actions(words, keys, local, chosen, config), gram_of_word, topped_up)


def _ngram_starts(
    words: WordBatch,
    keys: Keys,
    local: NDArray[np.int64],
    firsts: NDArray[np.int64],
    counts: NDArray[np.int64],
    longest: int,
) -> NDArray[np.bool_]:
    """Mark the first word of each n-gram; every word belongs to one."""
    blocks = words.segments * 2 + words.allowed
    begins: NDArray[np.bool_] = np.diff(blocks, prepend=-1) != 0
    begins[1:] |= ~words.allowed[1:]
    harmonic = np.cumsum(1 / np.arange(1, longest + 1))
    shares = uniform(draw(keys[words.rows], _SIZES, local))
    sizes = np.searchsorted(harmonic / harmonic[-1], shares, side="right") + 1
    ends = _running(sizes, words.rows)  # of the row's n-grams, in words
    inside = ends < counts[words.rows]
    begins[firsts[words.rows[inside]] + ends[inside]] = True
    return begins


def _top_up(
    words: WordBatch,
    keys: Keys,
    local: NDArray[np.int64],
    chosen: NDArray[np.bool_],
    room: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Return the single words that fill ``room``, which is reduced in place."""
    extra = np.zeros(len(chosen), np.bool_)
    free = np.flatnonzero(words.allowed & ~chosen & (words.lengths <= room[words.rows]))
    free = free[_random_order(keys, _TOP_UP, words.rows[free], local[free])]
    while len(free):
        rows, lengths = words.rows[free], words.lengths[free]
        fits = _running(lengths, rows) <= room[rows]  # always true for the first of each row
        extra[free[fits]] = True
        np.subtract.at(room, rows[fits], lengths[fits])
        free = free[~fits & (lengths <= room[rows])]
    bare = np.ones(len(room), np.bool_)
    bare[words.rows[chosen | extra]] = False
    lost = np.flatnonzero(bare[words.rows] & words.allowed)
    if len(lost):
        mixed = _random_order(keys, _TOP_UP, words.rows[lost], local[lost])
        lost = lost[mixed]
        lost = lost[np.lexsort((words.lengths[lost], words.rows[lost]))]
        extra[lost[np.diff(words.rows[lost], prepend=-1) != 0]] = True
    return extra


def _actions(
    words: WordBatch,
    keys: Keys,
    local: NDArray[np.int64],
    chosen: NDArray[np.bool_],
    config: MaskingConfig,
) -> NDArray[np.uint8]:
    places = np.flatnonzero(chosen)
    shares = uniform(draw(keys[words.rows[places]], _ACTION, local[places]))
    action = np.full(len(chosen), KEPT_OUT, np.uint8)
    masked, replaced = config.mask_share, config.mask_share + config.random_share
    action[places] = np.where(
        shares < masked, AS_MASK, np.where(shares < replaced, AS_RANDOM, AS_IS)
    )
    return action


def _random_order(
    keys: Keys, stream: int, rows: NDArray[np.int64], places: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return indices that sort by row and, within a row, at random.

    Sorting one number per word, all distinct, is faster than sorting two and does not depend on the
    algorithm: 20 bits of row, 32 random bits, 12 bits of place.
    """
    bits = draw(keys[rows], stream, places) >> np.uint64(32)
    sortable = (rows.astype(np.uint64) << np.uint64(32)) | bits
    return np.argsort((sortable << np.uint64(12)) | places.astype(np.uint64))


def _running(values: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return cumulative sums that restart in each row; ``rows`` ascend."""
    sums = np.cumsum(values)
    first = np.diff(rows, prepend=-1) != 0
    before = (sums - values)[first]
    result: NDArray[np.int64] = sums - before[np.cumsum(first) - 1]
    return result
