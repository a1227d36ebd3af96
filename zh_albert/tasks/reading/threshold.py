"""When it is better to give no answer."""

from __future__ import annotations

import itertools
from collections.abc import Sequence


def best_threshold(
    log_odds: Sequence[float], answered: Sequence[float], declined: Sequence[float]
) -> float:
    """Return the log-odds an answer must have, so that the summed scores are highest.

    It stands half-way between two examples, or beyond the last one by 1; of equally good places
    the one that answers most.

    Args:
        log_odds: Of the best answer to each question; at least one question.
        answered: What giving that answer scores.
        declined: What giving none scores.

    >>> best_threshold([3.0, 1.0, -2.0], answered=[1, 0, 0], declined=[0, 1, 1])
    2.0
    """
    rows = sorted(zip(log_odds, answered, declined, strict=True), reverse=True)
    gains = [gain - loss for _, gain, loss in rows]
    totals = list(itertools.accumulate(gains, initial=0.0))  # of answering the first n
    odds = [log_odds for log_odds, _, _ in rows]
    borders = [odds[0] + 1, *((a + b) / 2 for a, b in itertools.pairwise(odds)), odds[-1] - 1]
    # Equal odds cannot be told apart: no border lies between them.
    possible = [n for n in range(len(borders)) if n in (0, len(rows)) or odds[n - 1] > odds[n]]
    return borders[max(possible, key=lambda n: (totals[n], n))]
