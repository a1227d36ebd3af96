"""Mean, spread and paired differences of arms over seeds; which differences are resolved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zh_albert.errors import DataError
from zh_albert.experiments.arms import Direction

LEVEL = 0.05  # of significance; intervals are of the other 95 %

Verdict = Literal["shown", "contradicted", "higher", "lower", "not resolved"]
Test = Literal["seeds", "seeds and examples"]


class Summary(NamedTuple):
    """Mean and standard deviation (n - 1 in the denominator) over runs; NaN where undefined."""

    mean: float
    sd: float
    runs: int


def summary(values: ArrayLike) -> Summary:
    """Summarize one metric of an arm. Shape: (runs,)."""
    row = np.asarray(values, float)
    sd = row.std(ddof=1) if len(row) > 1 else math.nan
    return Summary(float(row.mean()) if len(row) else math.nan, float(sd), len(row))


@dataclass(frozen=True)
class Difference:
    """Mean difference between two arms over the seeds that both have.

    Args:
        test: What is taken as drawn at random: the seeds, with the dev set as it is; or both.
        pairs: Number of seeds that both arms have.
        mean: NaN without pairs.
        smallest_visible: The smallest effect that could have been seen: Student's t times the
            standard error, half the width of the 95 % interval. A true effect of just this size is
            seen in about half of all repetitions. NaN if the pairs tell nothing about it.
        p: Two-sided, of no difference; 0 below 1e-15, NaN like ``smallest_visible``.
    """

    test: Test
    pairs: int
    mean: float
    smallest_visible: float
    p: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean difference."""
        return self.mean - self.smallest_visible, self.mean + self.smallest_visible


def difference_by_seed(ours: ArrayLike, theirs: ArrayLike) -> Difference:
    """Return the difference with its interval by Student's t over the seeds.

    It says what other seeds would give on the same dev set. Where one pair is all there is, or all
    differences are equal, the seeds tell nothing about their spread, and nothing is resolved.

    Args:
        ours: Scores of an arm by seed. Shape: (seeds,).
        theirs: Scores of the arm it is compared with, for the same seeds.

    Source: Dror et al. 2018, "The hitchhiker's guide to testing statistical significance in
    natural language processing" (ACL), paired Student's t-test.
    """
    first, second = np.asarray(ours, float), np.asarray(theirs, float)
    pairs = first - second
    count, mean = len(pairs), float(pairs.mean()) if len(pairs) else math.nan
    if count < 2 or _all_equal(pairs, max(np.abs(first).max(), np.abs(second).max())):
        return Difference("seeds", count, mean, math.nan, math.nan)
    return _by_t("seeds", count, mean, [(float(pairs.var(ddof=1)) / count, count - 1)])


def difference_by_seed_and_example(
    ours: Sequence[NDArray[Any]], theirs: Sequence[NDArray[Any]]
) -> Difference:
    """Return the difference with an interval for other seeds and other examples together.

    The paired differences are a table of seeds by examples, both drawn at random. The variance of
    its mean is that of seeds with the noise of single outcomes, plus what examples add to the
    noise; each part has its own Student's t, weighted by its share, because the few seeds say
    little about their part. In simulations with 2 to 5 seeds and few or many effects of either
    kind, 94 to 98 % of the intervals covered the true difference; with Satterthwaite's degrees of
    freedom, 87 to 97 %.

    Args:
        ours: Outcome of each example in each run of an arm. Shape: (seeds, examples).
        theirs: The same for the arm it is compared with: same seeds, same examples.

    Raises:
        DataError: If the numbers of seeds or examples differ: other examples cannot be paired.

    Source: variance: the mean squares of Clark 1973, "The language-as-fixed-effect fallacy"
    (J. Verbal Learning and Verbal Behavior 12); weighted t: Cochran and Cox 1950, "Experimental
    Designs", as in SAS's PROC TTEST. For the same question, with a bootstrap: Sellam et al. 2022,
    "The MultiBERTs" (arXiv:2106.16163).
    """
    test: Test = "seeds and examples"
    counts = sorted({len(row) for row in (*ours, *theirs)})
    if len(ours) != len(theirs) or len(counts) != 1:
        raise DataError(
            "expected outcomes of the same examples in all runs that are compared, found "
            f"{' and '.join(map(str, counts))} examples: use the same dev set"
        )
    table = np.asarray(ours, float) - np.asarray(theirs, float)
    (seeds, examples), mean = table.shape, float(table.mean())
    if seeds < 2 or examples < 2 or np.ptp(table) == 0:
        return Difference(test, seeds, mean, math.nan, math.nan)
    by_seed, by_example = table.mean(1), table.mean(0)
    rest = table - by_seed[:, None] - by_example + mean
    noise = float((rest**2).sum()) / ((seeds - 1) * (examples - 1))
    seeds_part = examples * float(by_seed.var(ddof=1))
    if _all_equal(by_seed, np.abs(table).max()):  # by chance, if there is noise
        seeds_part = noise
    examples_part = max(seeds * float(by_example.var(ddof=1)) - noise, 0.0)
    parts = [(seeds_part / table.size, seeds - 1), (examples_part / table.size, examples - 1)]
    return _by_t(test, seeds, mean, parts)


def _all_equal(values: NDArray[np.float64], scale: float) -> bool:
    """Whether they differ by no more than rounding makes them, for numbers of that size."""
    return bool(np.ptp(values) <= 1e-9 * scale)


def _by_t(test: Test, pairs: int, mean: float, parts: Sequence[tuple[float, float]]) -> Difference:
    """Judge a mean by the parts of its variance and their degrees of freedom."""
    from scipy.optimize import brentq  # noqa: PLC0415  (slow to import)
    from scipy.special import stdtrit  # noqa: PLC0415

    error = math.sqrt(sum(variance for variance, _ in parts))

    def margin(p: float) -> float:
        return sum(variance * -float(stdtrit(free, p / 2)) for variance, free in parts) / error

    def too_wide(log_p: float) -> float:
        return margin(math.exp(log_p)) - abs(mean)

    smallest = math.log(1e-15)
    p = math.exp(brentq(too_wide, smallest, 0.0, xtol=1e-12)) if too_wide(smallest) > 0 else 0.0
    return Difference(test, pairs, mean, margin(LEVEL), p)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number; NaN stays NaN and is not counted.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]

    Source: Holm 1979, "A simple sequentially rejective multiple test procedure" (Scandinavian
    Journal of Statistics 6).
    """
    known = sorted((p, place) for place, p in enumerate(p_values) if not math.isnan(p))
    corrected, largest = [math.nan] * len(p_values), 0.0
    for rank, (p, place) in enumerate(known):
        corrected[place] = largest = max(largest, min(1.0, p * (len(known) - rank)))
    return corrected


def verdict(mean: float, p: float, expected: Direction | None) -> Verdict:
    """Judge a difference at 5 %, against a published direction if there is one.

    >>> verdict(-0.4, 0.01, "higher"), verdict(-0.4, 0.01, None), verdict(-0.4, 0.2, "lower")
    ('contradicted', 'lower', 'not resolved')
    """
    if not p < LEVEL:  # NaN, too
        return "not resolved"
    direction: Direction = "higher" if mean > 0 else "lower"
    if expected is None:
        return direction
    return "shown" if direction == expected else "contradicted"


def pareto_front(costs: ArrayLike, scores: ArrayLike) -> list[int]:
    """Return the points that no other beats: none costs less or the same and scores more, or less.

    Args:
        costs: Less is better. Shape: (points,).
        scores: More is better. Shape: (points,).

    Returns:
        Positions of the points, by cost. Equal points are all on the front, or none is.

    >>> pareto_front([1, 2, 3], [0.5, 0.4, 0.9])
    [0, 2]
    """
    points = list(zip(np.asarray(costs).tolist(), np.asarray(scores).tolist(), strict=True))
    front = [
        place
        for place, (cost, score) in enumerate(points)
        if not any(c <= cost and s >= score and (c, s) != (cost, score) for c, s in points)
    ]
    return sorted(front, key=lambda place: points[place])
