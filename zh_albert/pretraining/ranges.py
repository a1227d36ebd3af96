"""Ranges of numbers laid end to end, by numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def joined_ranges(starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Concatenate ``range(start, start + count)`` for each pair. Shape: (sum of counts,).

    >>> joined_ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    firsts = np.cumsum(counts) - counts
    result: NDArray[np.int64] = np.arange(counts.sum()) + np.repeat(starts - firsts, counts)
    return result
