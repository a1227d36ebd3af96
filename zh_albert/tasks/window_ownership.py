"""Ownership of tokens among overlapping windows: one window decides each token."""

from __future__ import annotations

import itertools
from collections.abc import Sequence


def decided_by(parts: Sequence[range]) -> list[range]:
    """Return the range that each window decides: the spans with most context in that window.

    A span from token ``i`` to token ``j``, both included, is decided by the window whose range
    contains ``i + j``, and so a single token ``i`` by the one that contains ``2 * i``. The ranges
    are adjacent. A span longer than the overlap may not fit in any window.

    >>> decided_by([range(0, 6), range(4, 10)])  # tokens 0 to 4, then 5 to 9
    [range(0, 10), range(10, 19)]
    """
    doubled_centres = [part.start + part.stop - 1 for part in parts]
    # The window with the nearer centre decides; half-way between two centres, the first one.
    limits = [(a + b) // 2 + 1 for a, b in itertools.pairwise(doubled_centres)]
    starts, ends = [2 * parts[0].start, *limits], [*limits, 2 * parts[-1].stop - 1]
    return [range(start, end) for start, end in zip(starts, ends, strict=True)]


def tokens_in(decided: range) -> range:
    """Return the tokens of a range of ``decided_by``; all windows together cover the text.

    >>> [tokens_in(decided) for decided in decided_by([range(0, 6), range(4, 10)])]
    [range(0, 5), range(5, 10)]
    """
    return range(-(-decided.start // 2), -(-decided.stop // 2))
