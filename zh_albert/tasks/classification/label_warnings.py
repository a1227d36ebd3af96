"""Warnings about the labels of training texts: slips of the pen, and classes with few texts."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

_FEW = 5  # texts of a class, below which hardly anything is learned
_LISTED = 20


def label_warnings(names: Iterable[str]) -> Iterator[str]:
    """Yield a line for classes that look like one, and one for classes with few texts.

    Args:
        names: The class of each text, or each class of each text.

    >>> for warning in label_warnings(["Good"] * 6 + ["good"] * 2 + ["bad"] * 9):
    ...     print(warning)
    separate classes, though only case, width or blanks differ: 'Good' (6), 'good' (2)
    classes with fewer than 5 texts, of which little can be learned: 'good' (2)
    """
    counts = Counter(names)
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for name in counts:
        folded = unicodedata.normalize("NFKC", name).casefold()
        alike["".join(folded.split())].append(name)
    for group in alike.values():
        if len(group) > 1:
            listed = _listed(group, counts)
            yield f"separate classes, though only case, width or blanks differ: {listed}"
    if few := [name for name, count in counts.items() if count < _FEW]:
        listed = _listed(few, counts)
        yield f"classes with fewer than {_FEW} texts, of which little can be learned: {listed}"


def _listed(names: list[str], counts: Counter[str]) -> str:
    listed = ", ".join(f"{name!r} ({counts[name]:,})" for name in names[:_LISTED])
    return listed if len(names) <= _LISTED else f"{listed} and {len(names) - _LISTED} more"
