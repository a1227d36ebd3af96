"""Tuning of the threshold for giving no answer."""

from __future__ import annotations

import itertools
from collections.abc import Sequence


def best_no_answer_threshold(
    log_odds: Sequence[float], answered: Sequence[float], declined: Sequence[float]
) -> float:
    """Return the minimum log-odds of an answer that maximizes the summed scores.

    It is half-way between two examples, or 1 beyond the last one; among equally good thresholds the
    one with most answers.

    Args:
        log_odds: Log-odds of the best answer to each question; at least one question.
        answered: Score of giving that answer.
        declined: Score of giving no answer.

    >>> best_no_answer_threshold([3.0, 1.0, -2.0], answered=[1, 0, 0], declined=[0, 1, 1])
    2.0
    """
    rows = sorted(zip(log_odds, answered, declined, strict=True), reverse=True)
    gains = [gain - loss for _, gain, loss in rows]
    totals = list(itertools.accumulate(gains, initial=0.0))  # gain of answering the first n
    odds = [log_odds for log_odds, _, _ in rows]
    borders = [odds[0] + 1, *((a + b) / 2 for a, b in itertools.pairwise(odds)), odds[-1] - 1]
    # No threshold separates equal odds.
    possible = [n for n in range(len(borders)) if n in (0, len(rows)) or odds[n - 1] > odds[n]]
    return borders[max(possible, key=lambda n: (totals[n], n))]
