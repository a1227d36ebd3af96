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


class Part(NamedTuple):
    """A part of the variance of a mean, and its degrees of freedom."""

    variance: float
    free: float


class Pairing(NamedTuple):
    """Scores of two arms paired by seed: their mean difference and the parts of its variance."""

    test: Test
    pairs: int
    """Number of seeds that both arms have."""
    mean: float
    """NaN without pairs."""
    seeds: Part | None
    """What seeds add; None if the pairs tell nothing about it."""
    noise: float = 1.0
    """What ``seeds`` is measured in: the variance that single outcomes alone give it, if known."""
    examples: Part | None = None
    """What examples add besides."""


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


def paired_by_seed(ours: ArrayLike, theirs: ArrayLike) -> Pairing:
    """Pair two arms by seed: what other seeds would give on the same dev set.

    Where one pair is all there is, or all differences are equal, the seeds tell nothing about their
    spread, and nothing is resolved.

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
        return Pairing("seeds", count, mean, None)
    return Pairing("seeds", count, mean, Part(float(pairs.var(ddof=1)) / count, count - 1))


def paired_by_seed_and_example(
    ours: Sequence[NDArray[Any]], theirs: Sequence[NDArray[Any]]
) -> Pairing:
    """Pair two arms by seed and example: what other seeds and other examples together would give.

    The paired differences are a table of seeds by examples, both drawn at random. The variance of
    its mean is that of seeds with the noise of single outcomes, plus what examples add to the
    noise.

    Args:
        ours: Outcome of each example in each run of an arm. Shape: (seeds, examples).
        theirs: The same for the arm it is compared with: same seeds, same examples.

    Raises:
        DataError: If the numbers of seeds or examples differ: other examples cannot be paired.

    Source: the mean squares of Clark 1973, "The language-as-fixed-effect fallacy" (J. Verbal
    Learning and Verbal Behavior 12). For the same question, with a bootstrap: Sellam et al. 2022,
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
        return Pairing(test, seeds, mean, None)
    by_seed, by_example = table.mean(1), table.mean(0)
    rest = table - by_seed[:, None] - by_example + mean
    noise = float((rest**2).sum()) / ((seeds - 1) * (examples - 1))
    seeds_part = examples * float(by_seed.var(ddof=1))
    if _all_equal(by_seed, np.abs(table).max()):  # by chance, if there is noise
        seeds_part = noise
    examples_part = max(seeds * float(by_example.var(ddof=1)) - noise, 0.0)
    return Pairing(
        test,
        seeds,
        mean,
        seeds=Part(seeds_part / table.size, seeds - 1),
        noise=noise / table.size,
        examples=Part(examples_part / table.size, examples - 1),
    )


def differences(pairings: Sequence[Pairing]) -> list[Difference]:
    """Return the differences of a table, each with its interval by Student's t.

    Few seeds say little about their spread, and all pairings of a table together say more: each
    variance of seeds is drawn towards what is usual in the table, the more the less they vary from
    one another. A pairing alone keeps its own. In simulated tables of 2 to 40 pairings and 2 to 5
    seeds, of equal or unequal spread, 92 to 98.5 % of the intervals covered the true difference (a
    unit test holds that).

    Parts of seeds and examples each have their own Student's t, weighted by their share; with
    Satterthwaite's degrees of freedom fewer intervals would cover it.

    Source: variances: Smyth 2004, "Linear models and empirical Bayes methods for assessing
    differential expression in microarray experiments" (Statistical Applications in Genetics and
    Molecular Biology 3); weighted t: Cochran and Cox 1950, "Experimental Designs", as in SAS's PROC
    TTEST.
    """
    of_seeds: list[Part | None] = [pairing.seeds for pairing in pairings]
    for test in ("seeds", "seeds and examples"):
        here = {
            place: Part(pairing.seeds.variance / pairing.noise, pairing.seeds.free)
            for place, pairing in enumerate(pairings)
            if pairing.test == test and pairing.seeds and pairing.noise
        }
        for place, (ratio, free) in zip(here, _moderated(list(here.values())), strict=True):
            of_seeds[place] = Part(ratio * pairings[place].noise, free)
    return [_by_t(pairing, seeds) for pairing, seeds in zip(pairings, of_seeds, strict=True)]


def _moderated(parts: Sequence[Part]) -> list[Part]:
    """Return variances drawn towards what is usual among them; see ``differences``."""
    from scipy.optimize import brentq  # noqa: PLC0415  (slow to import)
    from scipy.special import polygamma, psi  # noqa: PLC0415

    if len(parts) < 2:
        return list(parts)
    variances, free = np.array(parts).T
    logs = np.log(variances) - psi(free / 2) + np.log(free / 2)
    unequal = logs.var(ddof=1) - polygamma(1, free / 2).mean()
    usual, certain = float(logs.mean()), math.inf
    if unequal > 0:
        half = math.exp(brentq(lambda x: polygamma(1, math.exp(x)) - unequal, -20.0, 40.0))
        usual, certain = usual + float(psi(half)) - math.log(half), 2 * half
    # All together know no more than the sum of what each knows.
    weights = np.minimum(certain, free.sum() - free)
    together = weights + free
    drawn = (weights * math.exp(usual) + free * variances) / together
    return [Part(*pair) for pair in zip(drawn.tolist(), together.tolist(), strict=True)]


def _all_equal(values: NDArray[np.float64], scale: float) -> bool:
    """Whether they differ by no more than rounding makes them, for numbers of that size."""
    return bool(np.ptp(values) <= 1e-9 * scale)


def _by_t(pairing: Pairing, seeds: Part | None) -> Difference:
    """Judge a mean by the parts of its variance."""
    from scipy.optimize import brentq  # noqa: PLC0415
    from scipy.special import stdtrit  # noqa: PLC0415

    test, pairs, mean = pairing.test, pairing.pairs, pairing.mean
    if seeds is None:
        return Difference(test, pairs, mean, math.nan, math.nan)
    parts = [part for part in (seeds, pairing.examples) if part]
    error = math.sqrt(sum(part.variance for part in parts))

    def margin(p: float) -> float:
        return sum(variance * -float(stdtrit(free, p / 2)) for variance, free in parts) / error

    def too_wide(log_p: float) -> float:
        return margin(math.exp(log_p)) - abs(mean)

    smallest = math.log(1e-15)
    p = math.exp(brentq(too_wide, smallest, 0.0, xtol=1e-12)) if too_wide(smallest) > 0 else 0.0
    return Difference(test, pairs, mean, margin(LEVEL), p)


def corrected(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number; NaN stays NaN and is not counted.

    Of the differences with a corrected value below 5 %, at most 5 % are expected to be chance.

    >>> corrected([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]

    Source: Benjamini and Hochberg 1995, "Controlling the false discovery rate" (J. of the Royal
    Statistical Society B 57).
    """
    from scipy.stats import false_discovery_control  # noqa: PLC0415  (slow to import)

    known = [place for place, p in enumerate(p_values) if not math.isnan(p)]
    found = [math.nan] * len(p_values)
    if known:
        controlled = false_discovery_control([p_values[place] for place in known])
        for place, p in zip(known, controlled.tolist(), strict=True):
            found[place] = p
    return found


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
