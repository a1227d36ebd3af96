from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zh_albert.errors import ConfigError
from zh_albert.pretraining.masking import choose_whole_words


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
