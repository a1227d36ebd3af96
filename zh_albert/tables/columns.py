"""Which column of a table holds what: by the names people give them, else by what is in them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from zh_albert.errors import DataError
from zh_albert.files.notes import FileNote, tell
from zh_albert.tables.nameless import names_of_columns
from zh_albert.tokenization.characters import CHINESE
from zh_albert.tokenization.simplified import simplified

NAMES: Mapping[str, Sequence[str]] = {
    "text": (
        *("text", "文本", "文本内容", "内容", "评论内容", "评论", "评论正文", "评价内容"),
        *("留言内容", "留言", "反馈内容", "正文", "微博正文", "微博", "弹幕", "句子"),
        *("新闻标题", "标题", "review", "content", "sentence", "comment", "title"),
    ),
    "label": (
        *("label", "标签", "类别", "分类", "情感", "情感倾向", "情感标签", "情感极性", "意图"),
        *("类型", "category", "class", "sentiment", "intent"),
    ),
    "text_a": (
        *("text_a", "sentence1", "premise", "text1", "question1", "query1"),
        *("第一句", "句子1", "句子一", "文本1", "问题1", "前提"),
    ),
    "text_b": (
        *("text_b", "sentence2", "hypothesis", "text2", "question2", "query2"),
        *("第二句", "句子2", "句子二", "文本2", "问题2", "假设"),
    ),
    "question": ("question", "问题", "提问", "query"),
    "context": ("context", "短文", "文章", "passage", "正文"),
}
"""Fields of our task files, and names of the columns that hold them, the likeliest first."""


class TableLayout(NamedTuple):
    """What a user says about a table: where its names do not say which column holds what."""

    columns: Mapping[str, str] = MappingProxyType({})
    """Field → the column that holds it."""
    sheet: str | None = None
    """Name of a workbook's sheet; None: see ``workbook_rows``."""


BY_NAMES = TableLayout()
_SAMPLE = 100  # rows that are looked at
_TITLES = 4  # rows that may stand above the names of columns
_CLEARLY = 2  # times as much Chinese text as the next column
_CHINESE = re.compile(f"[{CHINESE}]")
_SENTENCE = re.compile("[，。！]")

Row = dict[str, Any]


class TableRow(dict[str, Any]):
    """A row of a table with its fields by their names; other columns keep theirs.

    Attributes:
        own: The row by the names of the columns in the file.
    """

    def __init__(self, own: Row, fields: Mapping[str, str]) -> None:
        others = {name: value for name, value in own.items() if name not in fields}
        super().__init__(others | {fields[name]: own[name] for name in fields if name in own})
        self.own = own


def fields_of(columns: Sequence[str]) -> dict[str, str]:
    """Return which columns hold which fields, by their names.

    >>> fields_of(["序号", "评论内容", " Label"])
    {'评论内容': 'text', ' Label': 'label'}
    >>> fields_of(["正文", "问题"])
    {'正文': 'context', '问题': 'question'}
    """
    order = list(NAMES)
    if column_named(NAMES["question"], columns):  # 正文 is then what the question is about
        order.remove("text")
    found: dict[str, str] = {}
    for field in order:
        name = column_named(NAMES[field], columns)
        if name is not None and name not in found:
            found[name] = field
    return {column: found[column] for column in columns if column in found}


def column_named(names: Iterable[str], columns: Iterable[str]) -> str | None:
    """Return the column with the first of some names that a column has.

    >>> column_named(NAMES["label"], ["序号", " Label"]), column_named(NAMES["text"], ["評論"])
    (' Label', '評論')
    """
    written = {simplified(name.strip().lstrip("\ufeff").casefold()): name for name in columns}
    return next((written[name] for name in names if name in written), None)


def from_the_names(
    rows: Iterator[tuple[int, list[str]]], source: Path | str
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table from the one that names the columns on; notes tell what is assumed.

    Spreadsheets often begin with a title, over all columns. So rows without a known name, above
    one with more cells and known names, are left out, and so is a first cell alone above rows with
    more (``_below_a_title``). A table whose first row has a label that comes again below, or is one
    text with a comma or a full stop in it, has no names: they are added.

    Args:
        rows: Each with its line and its cells.
        source: Named in the notes.
    """
    first: list[tuple[int, list[str]]] = []
    error: DataError | None = None
    try:
        for row in islice(rows, _SAMPLE):
            first.append(row)
            if fields_of(row[1]) and len(first) <= _TITLES + 1:
                break
    except DataError as damaged:  # told when it is its turn
        error = damaged
    filled = [sum(map(bool, map(str.strip, cells))) for _, cells in first]
    named = bool(first) and len(first) <= _TITLES + 1 and bool(fields_of(first[-1][1]))
    if named:
        begin = len(first) - 1 if max(filled[:-1], default=filled[-1]) < filled[-1] else 0
    else:
        begin = _below_a_title([cells for _, cells in first])
    if begin:
        above = " ".join(
            cell.strip() for _, cells in first[:begin] for cell in cells if cell.strip()
        )
        if above:
            problem = f"what stands above the names of columns is left out: {above!r:.80}"
            tell(FileNote(f"{source}: {problem}", "title", title=above[:80]))
        first = first[begin:]
    elif names := _missing_names([cells for _, cells in first if any(map(str.strip, cells))]):
        problem = f"the first row names no columns; they are taken as {', '.join(names)}"
        tell(FileNote(f"{source}: {problem}", "no_names", names=", ".join(names)))
        yield 0, names
    yield from first
    if error:
        raise error
    yield from rows


def _below_a_title(rows: Sequence[Sequence[str]]) -> int:
    """Return the place of the row that names the columns, below a title; 0 if there is no title.

    For names that are not known. A title would be the only name, though most rows have more cells;
    names are a row with as many cells as any, no two alike and none a number or a sentence.
    """
    filled = [[cell.strip() for cell in cells if cell.strip()] for cells in rows]
    counts = [*map(len, filled)]
    place = counts.index(max(counts)) if counts else 0
    below = rows[place + 1 :]
    begins = any(map(str.strip, rows[0][:1])) if rows else False  # in its first cell
    if not (begins and 0 < place <= _TITLES and max(counts[:place]) == 1 and below):
        return 0
    names = filled[place]
    are_names = len({*names}) == len(names) and not any(
        name.isdecimal() or _SENTENCE.search(name) for name in names
    )
    # Not so for a single name above texts whose commas are not quoted.
    alike = sum(len(cells) == len(rows[place]) for cells in below)
    return place if are_names and 2 * alike > len(below) else 0


def _missing_names(rows: Sequence[Sequence[str]]) -> list[str] | None:
    """Return the fields of columns whose names are missing; None if the first row may have them."""
    if not rows or fields_of(rows[0]):
        return None
    if len(rows[0]) == 1:
        return ["text"] if _SENTENCE.search(rows[0][0]) else None
    names = names_of_columns(rows)
    if names is None:
        return None
    label = names.index("label")
    return names if any(cells[label] == rows[0][label] for cells in rows[1:]) else None


def with_fields(
    rows: Iterable[tuple[int, Any]],
    source: Path | str,
    chosen: Mapping[str, str] | None = None,
    *,
    by_content: bool = True,
) -> Iterator[tuple[int, Any]]:
    """Yield the rows of a table with its columns named as the fields they hold.

    Args:
        rows: With their places; an error in place of one is passed on.
        source: Named in errors.
        chosen: Field → the column that holds it, as the user says.
        by_content: Without a column of a known name, take for the texts the column with at least
            twice as much Chinese text as the next.

    Raises:
        DataError: If a chosen column is missing.
    """
    rows = iter(rows)
    first = list(islice(rows, _SAMPLE))
    sample = [row for _, row in first if isinstance(row, dict)]
    columns = list(dict.fromkeys(name for row in sample for name in row))
    looked_at = sample if by_content else []
    fields = _fields(columns, looked_at, source, chosen or {}) if columns else {}
    # Rows of JSON with our own names stay as they are.
    named = by_content or any(column != field for column, field in fields.items())
    for place, row in chain(first, rows):
        yield place, TableRow(row, fields) if named and isinstance(row, dict) else row


def _fields(
    columns: Sequence[str], rows: Sequence[Row], source: Path | str, chosen: Mapping[str, str]
) -> dict[str, str]:
    for field, column in chosen.items():
        if column not in columns:
            listed = ", ".join(map(repr, columns))
            raise DataError(f"{source}: there is no column {column!r} for {field}, but {listed}")
    named = {column: field for field, column in chosen.items()}
    for column, field in fields_of(columns).items():
        if field not in chosen and column not in named:
            named[column] = field
    if rows and not {"text", "text_b"} & {*named.values()}:  # UER calls single texts so, too
        named = {column: "text" if field == "text_a" else field for column, field in named.items()}
    if not {"text", "text_a", "text_b", "question", "context"} & set(named.values()):
        others = [column for column in columns if column not in named]
        if others and rows and (likely := likely_text_column(others, rows)):
            named[likely] = "text"
    for column, field in named.items():
        if field == "text" and column != field and column not in chosen.values():
            warnings.warn(f"{source}: texts are read from column {column!r}", stacklevel=2)
    return named


def likely_text_column(columns: Sequence[str], rows: Sequence[Row]) -> str | None:
    """Return the column with at least twice as much Chinese text as the next, if there is one.

    >>> rows = [{"订单": "张三", "说的话": "房间很干净，下次还来"}]
    >>> likely_text_column(["订单", "说的话"], rows)
    '说的话'
    """
    amounts = {
        column: sum(len(_CHINESE.findall(str(row.get(column) or ""))) for row in rows)
        for column in columns
    }
    best, *rest = sorted(columns, key=lambda column: -amounts[column])
    clear = amounts[best] and (not rest or amounts[best] >= _CLEARLY * amounts[rest[0]])
    return best if clear else None
