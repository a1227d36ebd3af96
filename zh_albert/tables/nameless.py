"""Tables whose columns have no names: texts with a label, as THUCNews and LCQMC have them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from zh_albert.tables.table_error import TableError

Row = dict[str, Any]
_LONGEST_LABEL = 20  # characters, on average
_AGAIN = 5  # times that each label of many rows comes, on average
FEW = 10
"""With fewer rows every one may have another label, and the first one may name the columns."""
_MOST = 0.9  # of the first lines have the same form
_FASTTEXT = re.compile(r"((?:__label__\S+\s+)+)(.+)")


def names_of_columns(rows: Sequence[Sequence[str]]) -> list[str] | None:
    """Return the fields of columns by what is in them; None if that is not clear.

    There are one text or two and a label: the column of short values that come again, that of the
    first row among them. They are half as long as the others at most, or, in many rows, very few. A
    column of different numbers is an ``id``.

    >>> names_of_columns([["国足客场战平对手", "体育"], ["股市今天又大跌了", "财经"]])
    ['text', 'label']
    >>> names_of_columns([["喜欢猫", "喜欢狗"], ["讨厌猫", "讨厌狗"]])
    """
    if not rows or len({len(cells) for cells in rows}) != 1:
        return None
    names: dict[int, str] = {}
    columns = dict(enumerate(zip(*rows, strict=True)))
    for number, values in columns.items():
        if all(map(str.isdecimal, values)) and len({*values}) == len(values) >= FEW:
            names[number] = "id"
    others = [number for number in columns if number not in names]
    if len(others) not in (2, 3):
        return None
    length = {number: sum(map(len, columns[number])) / len(rows) for number in others}
    different = {number: len({*columns[number]}) for number in others}
    label = min(others, key=length.__getitem__)
    fewest, *more = sorted(others, key=different.__getitem__)
    few = different[fewest] <= len(rows) / _AGAIN and different[fewest] < different[more[0]]
    if very_few := len(rows) >= FEW and few:
        label = fewest
    texts = [number for number in others if number != label]
    values = columns[label]
    again = len(rows) < FEW or (different[label] <= len(rows) / 2 and values[0] in values[1:])
    half = min(length[number] for number in texts) / 2
    short = length[label] <= (_LONGEST_LABEL if very_few else min(_LONGEST_LABEL, half))
    if not (again and short and all(map(str.strip, columns[label]))):
        return None
    names[label] = "label"
    fields = ("text",) if len(texts) == 1 else ("text_a", "text_b")
    names |= dict(zip(sorted(texts), fields, strict=True))
    return [names[number] for number in columns]


def is_nameless(lines: Sequence[str]) -> bool:
    """Return whether lines are texts with a label: behind tabs, or as fastText has them."""
    return bool(_fields_of_lines(lines))


def nameless_rows(
    lines: Iterator[tuple[int, str]],
    first: Sequence[str],
    source: Path | str,
    *,
    in_place: bool = False,
) -> Iterator[tuple[int, Any]]:
    """Yield the rows of such lines; blank ones are left out.

    Args:
        lines: The lines.
        first: The first ones, which say what the columns hold.
        source: Named in errors.
        in_place: Yield the error of a line of another form in its place.

    Raises:
        TableError: At the first line of another form than the first ones, unless ``in_place``.
    """
    names = _fields_of_lines(first)
    for number, line in lines:
        if not line.strip():
            continue
        try:
            yield number, _row(line, names, source, number)
        except TableError as error:
            if not in_place:
                raise
            yield number, error


def _row(line: str, names: Sequence[str], source: Path | str, number: int) -> Row:
    if names == ["fasttext"]:
        if not (found := _FASTTEXT.fullmatch(line.strip())):
            problem = "expected __label__ before the text"
            raise TableError.of("ragged", problem, source, number, expected=2, found=1)
        labels = [label.removeprefix("__label__") for label in found[1].split()]
        return {"text": found[2], "label": labels if len(labels) > 1 else labels[0]}
    cells = line.rstrip("\r\n").split("\t")
    if len(cells) != len(names):
        counts = {"expected": len(names), "found": len(cells)}
        problem = "expected {expected} cells with tabs between, found {found}"
        raise TableError.of("ragged", problem, source, number, **counts)
    return dict(zip(names, cells, strict=True))


def _fields_of_lines(lines: Sequence[str]) -> list[str]:
    filled = [line.strip("\r\n") for line in lines if line.strip()]
    if filled and all(_FASTTEXT.fullmatch(line.strip()) for line in filled):
        return ["fasttext"]
    rows = [line.split("\t") for line in filled]
    [(width, count)] = Counter(map(len, rows)).most_common(1) or [(0, 0)]
    if width < 2 or count < _MOST * len(rows):
        return []
    return names_of_columns([cells for cells in rows if len(cells) == width]) or []
