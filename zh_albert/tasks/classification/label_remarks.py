"""Remarks on the labels of training texts: counts, slips of the pen, classes with few texts."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from zh_albert.tasks.classification.examples import TextExample

_FEW = 5  # texts of a class, below which hardly anything is learned
_LISTED = 20


def label_remarks(examples: Sequence[TextExample]) -> Iterator[str]:
    """Yield the counts of the classes, and what looks wrong with them; nothing of values."""
    names: list[str] = []
    for example in examples:
        match example.label:
            case str(label):
                names.append(label)
            case tuple(labels):
                names += labels
            case _:
                return
    yield from remarks_on(names)
    if all(isinstance(example.label, tuple) and len(example.label) == 1 for example in examples):
        yield "each text has one label, in a list: sets are learned; for classes write strings"


def remarks_on(names: Iterable[str]) -> Iterator[str]:
    """Yield the counts of classes, those that look like one, and those with few texts.

    >>> for remark in remarks_on(["Good"] * 6 + ["good"] * 2 + ["bad"] * 9):
    ...     print(remark)
    3 classes: 'bad' (9), 'Good' (6), 'good' (2)
    separate classes, though only case, width or blanks differ: 'Good' (6), 'good' (2)
    classes with fewer than 5 texts, of which little can be learned: 'good' (2)
    """
    counts = Counter(names)
    ordered = [name for name, _ in counts.most_common()]
    yield f"{len(counts)} class{'' if len(counts) == 1 else 'es'}: {_listed(ordered, counts)}"
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
