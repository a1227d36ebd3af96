"""Splitting of long training texts, so that memory does not depend on the longest one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from zh_albert.tasks.windows import WindowConfig


def longest_part(window: WindowConfig, batch_tokens: int) -> int:
    """Return the maximum number of tokens of a text whose windows fit in a batch."""
    room = window.max_length - 2
    limit = room + (room - window.stride) * (batch_tokens // window.max_length - 1)
    return max(limit, room)


def cuts(tokens: int, spans: Sequence[tuple[int, int]], limit: int) -> Iterator[range]:
    """Cut a text into ranges of at most ``limit`` tokens, between spans where that is possible.

    Args:
        tokens: Number of tokens of the text.
        spans: First and last token of each span that should not be cut.
        limit: Maximum number of tokens in a range.

    >>> list(cuts(10, [(3, 4)], limit=4))
    [range(0, 3), range(3, 7), range(7, 10)]
    """
    start = 0
    while tokens - start > limit:
        cut = start + limit
        while crossing := [first for first, last in spans if first < cut <= last]:
            cut = min(crossing)
        if cut <= start:  # a span longer than the limit is cut
            cut = start + limit
        yield range(start, cut)
        start = cut
    if tokens:
        yield range(start, tokens)
