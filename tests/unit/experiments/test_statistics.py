"""Differences and intervals, against scipy, by hand and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from zh_albert.errors import DataError
from zh_albert.experiments.statistics import (
    Difference,
    Pairing,
    Part,
    corrected,
    differences,
    paired_by_seed,
    paired_by_seed_and_example,
    pareto_front,
    summary,
    verdict,
)

SCORES = st.floats(-100, 100).map(lambda value: round(value, 3))
PAIRS = st.lists(st.tuples(SCORES, SCORES), min_size=2, max_size=12)


def difference_by_seed(ours: ArrayLike, theirs: ArrayLike) -> Difference:
    return differences([paired_by_seed(ours, theirs)])[0]


def difference_by_seed_and_example(ours: list[NDArray], theirs: list[NDArray]) -> Difference:
    return differences([paired_by_seed_and_example(ours, theirs)])[0]


def test_spread_is_of_a_sample() -> None:
    assert summary([1, 2, 4]) == (pytest.approx(7 / 3), pytest.approx(math.sqrt(7 / 3)), 3)
    assert math.isnan(summary([1]).sd)
    assert math.isnan(summary([]).mean)


@given(PAIRS)
def test_seeds_are_tested_as_in_scipy(pairs: list[tuple[float, float]]) -> None:
    ours, theirs = np.array(pairs).T
    found = difference_by_seed(ours, theirs)
    if np.ptp(ours - theirs) < 1e-6:
        assert math.isnan(found.p)
        assert math.isnan(found.smallest_visible)
        return
    expected = stats.ttest_rel(ours, theirs)
    assert found.p == pytest.approx(expected.pvalue, abs=1e-12)
    assert found.interval == pytest.approx(tuple(expected.confidence_interval(0.95)))
    quantile = stats.t.ppf(0.975, len(pairs) - 1)
    by_hand = quantile * (ours - theirs).std(ddof=1) / math.sqrt(len(pairs))
    assert found.smallest_visible == pytest.approx(by_hand)


def test_a_known_difference() -> None:
    found = difference_by_seed([2, 4, 6], [1, 2, 3])  # 1, 2, 3: t = 2 · sqrt(3), 2 degrees
    assert found.mean == 2
    assert found.smallest_visible == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert found.p == pytest.approx(0.0741799, rel=1e-5)


@given(PAIRS)
def test_the_difference_is_antisymmetric(pairs: list[tuple[float, float]]) -> None:
    ours, theirs = np.array(pairs).T
    one, other = difference_by_seed(ours, theirs), difference_by_seed(theirs, ours)

    assert one.mean == -other.mean
    assert np.array([one.smallest_visible, one.p]) == pytest.approx(
        np.array([other.smallest_visible, other.p]), nan_ok=True
    )


@pytest.mark.parametrize("ours", [[], [3.0], [0.3, 0.4, 0.5]])
def test_seeds_that_tell_nothing_of_their_spread_resolve_nothing(ours: list[float]) -> None:
    found = difference_by_seed(ours, np.array(ours) - 0.1)
    assert found.pairs == len(ours)
    assert math.isnan(found.p)
    assert verdict(found.mean, found.p, "higher") == "not resolved"


def drawn(rng: np.random.Generator, seeds: int, spread: float) -> tuple[NDArray, NDArray]:
    """Two arms without a true difference: effects of seeds, of examples, and noise."""
    shape = (seeds, 200)
    difference = (
        rng.normal(0, spread, (seeds, 1)) + rng.normal(0, 0.3, (1, 200)) + rng.normal(0, 1, shape)
    )
    common = rng.normal(0, 1, shape)
    return common + difference, common


@pytest.mark.parametrize("spread", [0, 0.1, 1])
@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_intervals_cover_the_truth_about_as_often_as_said(seeds: int, spread: float) -> None:
    rng = np.random.default_rng(0)
    both: list[Difference] = []
    by_seed: list[Difference] = []
    for _ in range(600):
        ours, theirs = drawn(rng, seeds, spread)
        both.append(difference_by_seed_and_example(list(ours), list(theirs)))
        by_seed.append(difference_by_seed(rng.normal(0, 1, seeds), rng.normal(0, 1, seeds)))

    assert 0.92 <= np.mean([abs(one.mean) <= one.smallest_visible for one in by_seed]) <= 0.98
    assert 0.92 <= np.mean([abs(one.mean) <= one.smallest_visible for one in both]) <= 0.99


def test_the_same_examples_right_in_every_run_leave_the_test_over_examples() -> None:
    first = np.array([1, 1, 1, 1, 0, 1, 1, 0, 1, 1])
    second = np.array([1, 0, 1, 0, 0, 1, 0, 1, 1, 1])
    found = difference_by_seed_and_example([first] * 3, [second] * 3)
    expected = stats.ttest_rel(first, second)

    assert found.mean == pytest.approx(0.2)
    assert found.p == pytest.approx(expected.pvalue)


def test_seeds_that_agree_by_chance_are_not_taken_as_certain() -> None:
    differences = np.eye(3, 10)  # a tenth in each run, but of other examples
    found = difference_by_seed_and_example(list(differences), list(np.zeros((3, 10))))

    # Each example leaves 2/3 to the first three columns: 3 · 2/3 over 18 degrees of freedom.
    noise = 2 / 18
    assert found.smallest_visible == pytest.approx(4.302653 * math.sqrt(noise / 30))


def test_seeds_that_differ_much_leave_the_test_over_seeds() -> None:
    rng = np.random.default_rng(1)
    ours = rng.normal(0, 1e-3, (4, 500)) + np.array([[1.0], [2.0], [4.0], [3.0]])
    found = difference_by_seed_and_example(list(ours), list(np.zeros((4, 500))))

    assert found.p == pytest.approx(difference_by_seed(ours.mean(1), np.zeros(4)).p, rel=1e-3)


def test_other_examples_cannot_be_paired() -> None:
    with pytest.raises(DataError, match="found 3 and 4 examples: use the same dev set"):
        difference_by_seed_and_example([np.ones(3)] * 2, [np.ones(4)] * 2)


def test_other_numbers_of_seeds_are_drawn_together_by_hand() -> None:
    # As published: where variances differ no more than chance makes them, all are taken as equal,
    # to the geometric mean of what is expected of each; here never surer than both together.
    variances, free = [1.0, 2.0], [2, 4]
    usual = math.exp(
        sum(
            math.log(v) - special.psi(d / 2) + math.log(d / 2)
            for v, d in zip(variances, free, strict=True)
        )
        / 2
    )
    pairings = [Pairing("seeds", 3, 1.0, Part(v, d)) for v, d in zip(variances, free, strict=True)]
    for v, d, other, found in zip(variances, free, free[::-1], differences(pairings), strict=True):
        error = math.sqrt((other * usual + d * v) / 6)
        assert found.smallest_visible == pytest.approx(stats.t.ppf(0.975, 6) * error)
        assert found.p == pytest.approx(2 * stats.t.sf(1 / error, 6))


def test_very_unequal_spreads_stay_what_they_are() -> None:
    pairings = [Pairing("seeds", 100, 1.0, Part(10.0**power, 99)) for power in range(-2, 3)]
    for pairing, found in zip(pairings, differences(pairings), strict=True):
        assert pairing.seeds
        alone = stats.t.ppf(0.975, 99) * math.sqrt(pairing.seeds.variance)
        assert found.smallest_visible == pytest.approx(alone, rel=0.05)


def test_pairs_that_tell_nothing_change_no_other() -> None:
    one, silent = paired_by_seed([2, 4, 6], [1, 2, 3]), paired_by_seed([1.0], [2.0])
    both = paired_by_seed_and_example(list(np.eye(3)), list(np.zeros((3, 3))))
    alone = differences([one])[0]
    assert differences([silent, one, both])[1] == alone
    assert math.isnan(differences([silent, one])[0].p)


@pytest.mark.parametrize("unequal", [0.0, 1.0])
@pytest.mark.parametrize(("count", "seeds"), [(2, 2), (3, 3), (20, 2), (20, 3), (40, 5)])
def test_intervals_of_a_table_cover_the_truth_and_are_narrower(
    count: int, seeds: int, unequal: float
) -> None:
    rng = np.random.default_rng(0)
    together: list[float] = []
    alone: list[float] = []
    right = []
    for _ in range(800 // count):
        pairings = []
        theirs = rng.normal(0, 1, (seeds, 100))  # all are compared with the same arm
        for _ in range(count):
            spread = 0.15 * math.exp(unequal * rng.normal())
            ours = theirs + rng.normal(0, spread, (seeds, 1)) + rng.normal(0, 0.3, (1, 100))
            ours += rng.normal(0, 1, (seeds, 100))
            pairings.append(paired_by_seed_and_example(list(ours), list(theirs)))
        found = differences(pairings)
        right += [abs(one.mean) <= one.smallest_visible for one in found]
        together += [one.smallest_visible for one in found]
        alone += [differences([one])[0].smallest_visible for one in pairings]
    assert 0.92 <= np.mean(right) <= 0.985
    assert np.mean(together) < 0.9 * np.mean(alone)


def test_p_values_are_corrected_as_published() -> None:
    assert corrected([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert corrected([0.9, math.nan, 0.8]) == pytest.approx([0.9, math.nan, 0.9], nan_ok=True)
    assert corrected([]) == []


@given(st.lists(st.floats(0, 1), max_size=10))
def test_correction_lies_between_none_and_bonferroni(p_values: list[float]) -> None:
    for p, found in zip(p_values, corrected(p_values), strict=True):
        assert p <= found + 1e-12
        assert found <= min(1, p * len(p_values)) + 1e-12


@pytest.mark.parametrize(
    ("mean", "p", "expected", "word"),
    [
        (1, 0.04, "higher", "shown"),
        (1, 0.04, "lower", "contradicted"),
        (-1, 0.04, "lower", "shown"),
        (1, 0.04, None, "higher"),
        (-1, 0.04, None, "lower"),
        (1, 0.05, "higher", "not resolved"),
        (1, math.nan, "higher", "not resolved"),
    ],
)
def test_verdicts(mean: float, p: float, expected: str | None, word: str) -> None:
    assert verdict(mean, p, expected) == word  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=20))
def test_the_front_is_exactly_what_nothing_dominates(points: list[tuple[int, int]]) -> None:
    front = pareto_front(*zip(*points, strict=True))

    def dominates(one: tuple[int, int], other: tuple[int, int]) -> bool:
        return one[0] <= other[0] and one[1] >= other[1] and one != other

    beaten = {
        place
        for place, point in enumerate(points)
        if any(dominates(other, point) for other in points)
    }
    assert set(front) == set(range(len(points))) - beaten
    assert [points[place] for place in front] == sorted(points[place] for place in front)
