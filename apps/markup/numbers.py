"""Shares and times as the page writes them."""

from __future__ import annotations

from collections.abc import Sequence


def percentages(scores: Sequence[float]) -> list[float]:
    """Round probabilities to tenths of a percent that sum to exactly 100.

    Each is rounded down, and the tenths still missing go to the largest remainders.

    Args:
        scores: At least one, summing to about 1.

    >>> percentages([0.3333, 0.3333, 0.3334])
    [33.3, 33.3, 33.4]
    """
    exact = [1000 * score / sum(scores) for score in scores]
    tenths = [int(value) for value in exact]
    by_remainder = sorted(range(len(exact)), key=lambda i: tenths[i] - exact[i])
    for index in by_remainder[: 1000 - sum(tenths)]:
        tenths[index] += 1
    return [value / 10 for value in tenths]


def percent_text(percent: float) -> str:
    """Return a percentage as HTML; one below a tenth is shown as such.

    >>> percent_text(12.34), percent_text(0.01)
    ('12.3%', '&lt;0.1%')
    """
    return "&lt;0.1%" if 0 < percent < 0.05 else f"{percent:.1f}%"


def duration(seconds: float) -> str:
    """Return the time that a model took.

    >>> duration(0.00312), duration(0.0731), duration(12.34), duration(75)
    ('3.1 ms', '73 ms', '12.3 s', '1 min 15 s')
    """
    if seconds >= 60:
        return clock(seconds)
    if seconds >= 1:
        return f"{seconds:.1f} s"
    return f"{1000 * seconds:.1f} ms" if seconds < 0.01 else f"{1000 * seconds:.0f} ms"


def clock(seconds: float) -> str:
    """Return a time that people wait.

    >>> clock(7.6), clock(75), clock(3725)
    ('8 s', '1 min 15 s', '1 h 2 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
