from __future__ import annotations

import itertools
import math
import random
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zh_albert.errors import ConfigError
from zh_albert.pretraining.counter_rng import keys
from zh_albert.pretraining.masking import (
    AS_MASK,
    KEPT_OUT,
    MaskingConfig,
    WordBatch,
    choose_whole_words,
    choose_words,
)


@st.composite
def segmentations(draw: st.DrawFn) -> list[range]:
    """Words of 1 to 6 tokens, side by side from position 1 (0 is [CLS])."""
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=40))
    ends = list(itertools.accumulate(lengths, initial=1))
    return [range(start, end) for start, end in itertools.pairwise(ends)]


seeds = st.integers(0, 2**32)
rates = st.floats(0.01, 1)


@given(words=segmentations(), seed=seeds, rate=rates)
def test_a_word_is_masked_whole_or_not_at_all(words: list[range], seed: int, rate: float) -> None:
    masked = set(choose_whole_words(words, random.Random(seed), rate=rate))

    assert masked
    assert all(masked.issuperset(word) or masked.isdisjoint(word) for word in words)
    assert masked <= set(range(1, words[-1].stop))


@given(words=segmentations(), seed=seeds, rate=rates)
def test_the_budget_is_kept_unless_no_word_fits_it(
    words: list[range], seed: int, rate: float
) -> None:
    masked = choose_whole_words(words, random.Random(seed), rate=rate)
    budget = round(rate * sum(map(len, words)))
    shortest = min(map(len, words))

    assert len(masked) <= max(budget, shortest)
    if len(masked) > budget:
        assert len(masked) == shortest
    # No word that was left out would still have fitted.
    left_out = [word for word in words if word.start not in set(masked)]
    assert all(len(word) > budget - len(masked) for word in left_out)


@given(words=segmentations(), seed=seeds, rate=rates)
def test_positions_ascend_and_repeat_with_the_seed(
    words: list[range], seed: int, rate: float
) -> None:
    masked = choose_whole_words(words, random.Random(seed), rate=rate)

    assert masked == sorted(set(masked))
    assert masked == choose_whole_words(words, random.Random(seed), rate=rate)


def test_every_word_of_one_length_is_chosen_equally_often() -> None:
    words = [range(i, i + 2) for i in range(0, 40, 2)]
    rng = random.Random(0)
    counts = dict.fromkeys(range(40), 0)
    for _ in range(2000):
        for position in choose_whole_words(words, rng, rate=0.15):
            counts[position] += 1

    assert min(counts.values()) > 240  # 300 expected, 16 is one standard deviation
    assert max(counts.values()) < 360


def test_of_equally_short_words_a_random_one_is_taken() -> None:
    words = [range(0, 2), range(2, 4), range(4, 7)]
    taken = {tuple(choose_whole_words(words, random.Random(s), rate=0.01)) for s in range(30)}

    assert taken == {(0, 1), (2, 3)}


def test_no_words_no_masks() -> None:
    assert choose_whole_words([], random.Random(0)) == []


@pytest.mark.parametrize("rate", [0, -0.1, 1.5, float("nan")])
def test_a_rate_out_of_range_is_refused(rate: float) -> None:
    with pytest.raises(ConfigError, match="rate must be above 0"):
        choose_whole_words([range(1)], random.Random(0), rate=rate)


class Rows(NamedTuple):
    """Instances as lists of (tokens, segment, may be masked), one a word."""

    words: list[list[tuple[int, int, bool]]]

    def batch(self) -> WordBatch:
        flat = [(*word, row) for row, words in enumerate(self.words) for word in words]
        lengths, segments, allowed, rows = (np.array(column) for column in zip(*flat, strict=True))
        return WordBatch(lengths, rows, 2 * rows + segments, allowed)


@st.composite
def rows_of_words(draw: st.DrawFn) -> Rows:
    """One to four instances; some words hold an [UNK], some instances have two segments."""
    rows = []
    for _ in range(draw(st.integers(1, 4))):
        words = draw(st.lists(st.tuples(st.integers(1, 5), st.booleans()), min_size=1, max_size=60))
        border = draw(st.integers(0, len(words)))
        unknown = draw(st.booleans())
        rows.append([(n, int(i >= border), ok or not unknown) for i, (n, ok) in enumerate(words)])
    return Rows(rows)


configs = st.builds(MaskingConfig, rate=rates, max_ngram=st.integers(1, 4))


@given(rows=rows_of_words(), seed=seeds, config=configs)
def test_a_batch_keeps_the_budget_and_leaves_no_word_that_fits(
    rows: Rows, seed: int, config: MaskingConfig
) -> None:
    words = rows.batch()
    choice = choose_words(words, keys(seed, 0, np.arange(len(rows.words))), config)
    chosen = choice.action != KEPT_OUT

    assert not (chosen & ~words.allowed).any()
    for row in range(len(rows.words)):
        mine = words.rows == row
        budget = round(config.rate * int(words.lengths[mine].sum()))
        masked = int(words.lengths[mine & chosen].sum())
        allowed = words.lengths[mine & words.allowed]
        assert (masked > 0) == (len(allowed) > 0)
        if masked > budget:
            assert masked == min(allowed)
            assert budget < min(allowed)
        left_out = words.lengths[mine & words.allowed & ~chosen]
        assert all(length > budget - masked for length in left_out)


@given(rows=rows_of_words(), seed=seeds, config=configs)
def test_an_instance_is_masked_alike_in_any_company(
    rows: Rows, seed: int, config: MaskingConfig
) -> None:
    together = choose_words(rows.batch(), keys(seed, 3, np.arange(len(rows.words))), config)
    alone = [
        choose_words(Rows([words]).batch(), keys(seed, 3, np.array([row])), config)
        for row, words in enumerate(rows.words)
    ]

    assert together.action.tolist() == [a for one in alone for a in one.action.tolist()]


@given(rows=rows_of_words(), seed=seeds, config=configs)
def test_ngrams_are_short_and_inside_a_segment(
    rows: Rows, seed: int, config: MaskingConfig
) -> None:
    words = rows.batch()
    choice = choose_words(words, keys(seed, 0, np.arange(len(rows.words))), config)
    chosen = choice.action != KEPT_OUT

    assert np.bincount(choice.ngram).max() <= config.max_ngram
    for number in np.unique(choice.ngram):
        mine = choice.ngram == number
        assert len(set(words.segments[mine])) == 1
        # Taken as a whole, or not at all but for words that fill the budget.
        assert len(set((chosen & ~choice.topped_up)[mine])) == 1


def test_ngrams_are_cut_as_1_over_n_and_words_replaced_80_10_10() -> None:
    rows = Rows([[(1, 0, True)] * 400] * 100)
    words = rows.batch()
    choice = choose_words(words, keys(1, 0, np.arange(100)), MaskingConfig())
    sizes = np.bincount(np.bincount(choice.ngram), minlength=4)[1:]
    kinds = np.bincount(choice.action, minlength=4)

    assert np.allclose(sizes / sizes.sum(), [6 / 11, 3 / 11, 2 / 11], atol=0.015)
    assert kinds[KEPT_OUT] == 100 * 340  # 60 of 400, exactly
    assert np.allclose(kinds[AS_MASK:] / 6000, [0.8, 0.1, 0.1], atol=0.02)


def test_every_word_of_a_batch_is_chosen_equally_often() -> None:
    words = Rows([[(2, 0, True)] * 30] * 4000).batch()
    choice = choose_words(words, keys(5, 0, np.arange(4000)), MaskingConfig(rate=0.2))
    often = (choice.action != KEPT_OUT).reshape(4000, 30).sum(0)

    assert often.min() > 690  # 800 expected, 25 is one standard deviation
    assert often.max() < 910


def test_where_no_word_fits_the_shortest_is_taken() -> None:
    words = Rows([[(4, 0, True), (3, 0, True), (3, 0, True), (1, 0, False)]] * 40).batch()
    choice = choose_words(words, keys(1, 0, np.arange(40)), MaskingConfig(rate=0.05))
    taken = (choice.action != KEPT_OUT).reshape(40, 4)

    assert (taken.sum(1) == 1).all()
    assert 5 < taken[:, 1].sum() < 35
    assert not taken[:, [0, 3]].any()


@pytest.mark.parametrize(
    "settings",
    [
        {"rate": 0},
        {"rate": 1.1},
        {"max_ngram": 0},
        {"mask_share": 0.8, "random_share": 0.3},
        {"mask_share": math.nan},
        {"random_share": math.nan},
    ],
)
def test_impossible_masking_is_refused(settings: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        MaskingConfig(**settings)  # type: ignore[arg-type]
