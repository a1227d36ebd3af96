"""Uploaded tables, CSV or JSON Lines: checked once as a whole, then read row by row.

A file is never in memory as a whole. Errors are notices in the page's language, with the line.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apps.i18n.notice import Notice
from apps.i18n.tables import TableStrings
from zh_albert.errors import DataError
from zh_albert.tables.columns import NAMES
from zh_albert.tables.delimited import TableError, csv_rows, is_csv
from zh_albert.tasks.texts import has_content
from zh_albert.textio import parse_object, read_lines

KINDS = (".csv", ".jsonl")  # endings of the files that are read
MAX_BYTES = 100 * 1024 * 1024
MAX_CELL = 100_000  # characters
MAX_COLUMNS = 200
HEAD_ROWS = 5
# The first bytes of archives and workbooks.
_PACKED = (
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\x1f\x8b",
    b"\xfd7zXZ",
    b"\x28\xb5\x2f\xfd",
    b"Rar!",
    b"7z",
)

Row = dict[str, Any]


class RefusedError(Exception):
    """Raised for what the page cannot take; ``notice`` says why and what to do."""

    def __init__(self, notice: Notice) -> None:
        super().__init__(notice.problem)
        self.notice = notice


@dataclass(frozen=True, slots=True)
class Table:
    """An uploaded file that can be read.

    Attributes:
        path: The file.
        name: Its name on the visitor's computer, without folders.
        columns: Names of the columns, and how many rows have a text in each.
        rows: How many there are.
        head: The first ones.
    """

    path: Path
    name: str
    columns: dict[str, int]
    rows: int
    head: list[Row]

    def likely(self, field: str = "text", *, without: str | None = None) -> str:
        """Return the column that probably holds a field: a known name, else the fullest one.

        Args:
            field: A field of our task files.
            without: A column with something else; only taken if there is no other.
        """
        others = [name for name in self.columns if name != without] or list(self.columns)
        names = [*NAMES[field], *(NAMES["text"] if field == "context" else ())]
        known = (name for name in names if name in others)
        return next(known, max(others, key=lambda name: self.columns[name]))


def open_table(strings: TableStrings, path: Path, name: str) -> Table:
    """Check an uploaded file by reading it once.

    Args:
        strings: What can be wrong with it.
        path: The file; it is CSV or JSON Lines by its name.
        name: Its name on the visitor's computer.

    Raises:
        RefusedError: If it is of another kind, too large, empty, or a line of it is damaged.
    """
    name = Path(name.replace("\\", "/")).name
    _refuse_other_kinds(strings, path, name)
    columns: Counter[str] = Counter()
    head: list[Row] = []
    rows = 0
    for number, row in read_rows(strings, path):
        for column, value in row.items():
            columns[column] += isinstance(value, str) and has_content(value)
            if isinstance(value, str) and len(value) > MAX_CELL:
                raise RefusedError(strings.long_cell.filled(line=number, limit=f"{MAX_CELL:,}"))
        if len(columns) > MAX_COLUMNS:
            raise RefusedError(strings.many_columns.filled(limit=MAX_COLUMNS))
        rows += 1
        if rows <= HEAD_ROWS:
            head.append(row)
    if not rows or not columns:
        raise RefusedError(strings.no_rows)
    if not any(columns.values()):
        raise RefusedError(strings.no_texts)
    return Table(path, name, dict(columns), rows, head)


def read_rows(strings: TableStrings, path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the line and the columns of each row, in order; blank lines are skipped.

    Raises:
        RefusedError: At the first damaged line.
    """
    yield from _csv_rows(strings, path) if is_csv(path) else _json_rows(strings, path)


def _refuse_other_kinds(strings: TableStrings, path: Path, name: str) -> None:
    if path.suffix.lower() not in KINDS:
        raise RefusedError(strings.other_kind.filled(name=name[-80:]))
    size = path.stat().st_size
    if size > MAX_BYTES:
        limits = {"size": f"{size / 2**20:,.0f}", "limit": f"{MAX_BYTES / 2**20:,.0f}"}
        raise RefusedError(strings.too_large.filled(**limits))
    with path.open("rb") as file:
        start = file.read(1 << 16)
    if start.startswith(_PACKED):
        raise RefusedError(strings.packed)
    if b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise RefusedError(strings.binary)


def _lines(strings: TableStrings, path: Path) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        for number, line in read_lines(path, keep_ends=is_csv(path)):
            yield number, line
    except DataError:  # the file is there and plain: a line has another encoding
        raise RefusedError(strings.not_utf8.filled(line=number + 1)) from None


def _json_rows(strings: TableStrings, path: Path) -> Iterator[tuple[int, Row]]:
    for number, line in _lines(strings, path):
        if line.strip():
            try:
                row = parse_object(line, number, path.name)
            except DataError:
                raise RefusedError(strings.not_json.filled(line=number)) from None
            yield number, row


def _csv_rows(strings: TableStrings, path: Path) -> Iterator[tuple[int, Row]]:
    try:
        yield from csv_rows(_lines(strings, path), path.name)
    except TableError as error:
        notice: Notice = getattr(strings, error.kind)
        raise RefusedError(notice.filled(**error.facts)) from None


def as_cell(value: Any) -> str:
    """Return a value as a cell of CSV: strings as they are, others as JSON.

    >>> as_cell("好"), as_cell(0.5), as_cell(None), as_cell(["好"])
    ('好', '0.5', '', '["好"]')
    """
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
