"""Tables whose columns have no names: texts with a label, as THUCNews and LCQMC have them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from zh_albert.errors import DataError

Row = dict[str, Any]
_LONGEST_LABEL = 20  # characters, on average
_FEW = 10  # rows of which every one may have another label
_FASTTEXT = re.compile(r"((?:__label__\S+\s+)+)(.+)")


def names_of_columns(rows: Sequence[Sequence[str]]) -> list[str] | None:
    """Return the fields of columns by what is in them; None if that is not clear.

    There are one text or two and a label: the column of short values, half as long as the others
    at most, that come again. A column of different numbers is an ``id``.

    >>> names_of_columns([["国足客场战平对手", "体育"], ["股市今天又大跌了", "财经"]])
    ['text', 'label']
    >>> names_of_columns([["喜欢猫", "喜欢狗"], ["讨厌猫", "讨厌狗"]])
    """
    if not rows or len({len(cells) for cells in rows}) != 1:
        return None
    names: dict[int, str] = {}
    columns = dict(enumerate(zip(*rows, strict=True)))
    for number, values in columns.items():
        if all(map(str.isdecimal, values)) and len({*values}) == len(values) >= _FEW:
            names[number] = "id"
    others = [number for number in columns if number not in names]
    if len(others) not in (2, 3):
        return None
    length = {number: sum(map(len, columns[number])) / len(rows) for number in others}
    label, *texts = sorted(others, key=length.__getitem__)
    again = len(rows) < _FEW or len({*columns[label]}) <= len(rows) / 2
    short = length[label] <= min(_LONGEST_LABEL, length[texts[0]] / 2)
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
    lines: Iterator[tuple[int, str]], first: Sequence[str], source: Path | str
) -> Iterator[tuple[int, Row]]:
    """Yield the rows of such lines; blank ones are left out.

    Args:
        lines: The lines.
        first: The first ones, which say what the columns hold.
        source: Named in errors.

    Raises:
        DataError: If a line has another form than the first ones.
    """
    names = _fields_of_lines(first)
    for number, line in lines:
        if not line.strip():
            continue
        if names == ["fasttext"]:
            if not (found := _FASTTEXT.fullmatch(line.strip())):
                raise DataError.at(source, number, f"expected __label__…, found {line!r:.60}")
            labels = [label.removeprefix("__label__") for label in found[1].split()]
            yield number, {"text": found[2], "label": labels if len(labels) > 1 else labels[0]}
            continue
        cells = line.rstrip("\r\n").split("\t")
        if len(cells) != len(names):
            problem = f"expected {len(names)} cells with tabs between, found {len(cells)}"
            raise DataError.at(source, number, problem)
        yield number, dict(zip(names, cells, strict=True))


def _fields_of_lines(lines: Sequence[str]) -> list[str]:
    filled = [line.strip("\r\n") for line in lines if line.strip()]
    if filled and all(_FASTTEXT.fullmatch(line.strip()) for line in filled):
        return ["fasttext"]
    rows = [line.split("\t") for line in filled]
    return names_of_columns(rows) or [] if all(len(cells) > 1 for cells in rows) else []
