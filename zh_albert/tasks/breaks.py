"""Places where a text breaks off, and the punctuation between its clauses."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from zh_albert.tokenization.characters import CHINESE

# From the beginning of a run of blanks only, else long runs take time by their square.
_LINE_END = r"(?<!\s)\s*[\n\r\u2028\u2029\x0b\x0c\x85]\s*"
_LINE_ENDS = re.compile(_LINE_END)
_BREAKS = re.compile(rf"{_LINE_END}|(?<=[{CHINESE}])\s+(?=[{CHINESE}])")

_BETWEEN = frozenset("，。；：、,;:")  # "." is left out: it is also in numbers and names


def breaks_of(
    text: str, offsets: Sequence[tuple[int, int]], *, blanks: bool = True
) -> tuple[int, ...]:
    r"""Return the tokens before which a text breaks: at line ends, and blanks in Chinese.

    Args:
        text: The text.
        offsets: Of its tokens.
        blanks: Whether blanks between two Chinese characters count; between letters they never do.

    >>> breaks_of("陈静\n北京 上海 in China", [(0, 2), (3, 5), (6, 8), (9, 11), (12, 17)])
    (1, 2)
    """
    if text.isprintable() and not (blanks and " " in text):  # other blanks are not printable
        return ()
    starts = [start for start, _ in offsets]
    found = (_BREAKS if blanks else _LINE_ENDS).finditer(text)
    tokens = dict.fromkeys(bisect_left(starts, one.end()) for one in found)
    return tuple(token for token in tokens if 0 < token < len(starts))


def between_clauses(text: str, offsets: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return the tokens that are punctuation between clauses or items.

    >>> between_clauses("杭州，上海。", [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)])
    (2, 5)
    """
    return tuple(n for n, (start, end) in enumerate(offsets) if text[start:end] in _BETWEEN)
