"""The window that decides a token, where windows overlap."""

from __future__ import annotations

import itertools
from collections.abc import Sequence


def decided_by(parts: Sequence[range]) -> list[range]:
    """Say which window decides what: the one that has the most of the text around it.

    What stands from token ``i`` to token ``j``, both of them in it, is decided by the window
    whose range holds ``i + j``; so a single token ``i`` by the one that holds ``2 * i``. The
    ranges lie side by side. Something longer than the overlap can be in no window as a whole.

    >>> decided_by([range(0, 6), range(4, 10)])  # tokens 0 to 4, then 5 to 9
    [range(0, 10), range(10, 19)]
    """
    doubled_centres = [part.start + part.stop - 1 for part in parts]
    # Of two windows the nearer centre wins; half-way between them the first one.
    limits = [(a + b) // 2 + 1 for a, b in itertools.pairwise(doubled_centres)]
    starts, ends = [2 * parts[0].start, *limits], [*limits, 2 * parts[-1].stop - 1]
    return [range(start, end) for start, end in zip(starts, ends, strict=True)]


def tokens_in(decided: range) -> range:
    """Return the tokens of a range of ``decided_by``; those of all windows are the whole text.

    >>> [tokens_in(decided) for decided in decided_by([range(0, 6), range(4, 10)])]
    [range(0, 5), range(5, 10)]
    """
    return range(-(-decided.start // 2), -(-decided.stop // 2))
