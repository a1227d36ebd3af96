"""Uploaded files of rows: checked once as a whole, then read row by row.

The readers are those of the command line; their errors become notices in the page's language. A
file is never in memory as a whole (but a JSON array is).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from apps.i18n.notice import Notice
from apps.i18n.tables import TableStrings
from zh_albert.errors import DataError
from zh_albert.files.encodings import LongLineError, utf16_codec
from zh_albert.files.notes import listening
from zh_albert.files.textio import read_lines
from zh_albert.inference.files import Form, form_of
from zh_albert.tables.annotations import from_annotations
from zh_albert.tables.columns import NAMES, column_named, likely_text_column
from zh_albert.tables.delimited import csv_rows
from zh_albert.tables.nameless import FEW, is_nameless, nameless_rows
from zh_albert.tables.objects import json_rows
from zh_albert.tables.table_error import TableError
from zh_albert.tables.workbook import is_workbook, workbook_rows
from zh_albert.tasks.texts import has_content

KINDS = (".xlsx", ".xlsm", ".xls", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".txt")
"""Endings of the files that are read; an .xls is taken to say why it is not."""
MAX_BYTES = 100 * 1024 * 1024
MAX_CELL = 100_000  # characters
MAX_COLUMNS = 200
HEAD_ROWS = 5
_SAMPLE = 100  # rows that show which column has the texts
# The first bytes of archives and workbooks.
_PACKED = (
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\x1f\x8b",
    b"\xfd7zXZ",
    b"\x28\xb5\x2f\xfd",
    b"Rar!\x1a\x07",
    b"7z\xbc\xaf\x27\x1c",
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
        path: The file, named as on the visitor's computer.
        columns: Names of the columns, and how many rows have a text in each.
        rows: How many there are, damaged ones included.
        head: The first ones that can be read.
        damaged: How many cannot.
        damaged_at: The place of the first of those.
        texts: The column with clearly the most Chinese text, if there is one.
        notes: What the reader decided: the kind of each note, and its facts.
    """

    path: Path
    columns: dict[str, int]
    rows: int
    head: list[Row]
    damaged: int
    damaged_at: int
    texts: str | None
    notes: list[tuple[str, dict[str, str | int]]]

    def column_of(self, field: str) -> str | None:
        """Return the column that holds a field of our task files; None: in doubt, so ask.

        It has a known name, or, for a single text, clearly the most Chinese text.
        """
        names = [*NAMES[field], *(NAMES["text"] if field == "context" else ())]
        return column_named(names, self.columns) or (self.texts if field == "text" else None)


def open_table(strings: TableStrings, path: Path) -> Table:
    """Check an uploaded file by reading it once.

    Args:
        strings: What can be wrong with it.
        path: The file; its name says of which kind it is.

    Raises:
        RefusedError: If it is of another kind, too large, empty, or cannot be read on from some
            place, or from the first row on.
    """
    _refuse_other_kinds(strings, path)
    columns: Counter[str] = Counter()
    sample: list[Row] = []
    rows = damaged = damaged_at = 0
    first_damage: RefusedError | None = None
    with listening() as notes:
        for place, row in read_rows(strings, path):
            rows += 1
            if isinstance(row, RefusedError):
                if not sample and _form(strings, path) == "jsonl":  # no JSON Lines at all
                    raise row
                damaged += 1
                if first_damage is None:
                    first_damage, damaged_at = row, place
                continue
            for column, value in row.items():
                columns[column] += isinstance(value, str) and has_content(value)
            if len(columns) > MAX_COLUMNS:
                raise RefusedError(strings.many_columns.filled(limit=MAX_COLUMNS))
            if len(sample) < _SAMPLE:
                sample.append(row)
    if first_damage and not sample:
        raise first_damage
    if not columns:
        raise RefusedError(strings.no_rows)
    if not any(columns.values()):
        raise RefusedError(strings.no_texts)
    label = column_named(NAMES["label"], columns)
    others = [column for column, texts in columns.items() if texts and column != label]
    likely = likely_text_column(others, sample) if others else None
    told = [(note.kind, note.facts) for note in notes]
    return Table(
        path=path,
        columns=dict(columns),
        rows=rows,
        head=sample[:HEAD_ROWS],
        damaged=damaged,
        damaged_at=damaged_at,
        texts=likely,
        notes=told,
    )


def read_rows(strings: TableStrings, path: Path) -> Iterator[tuple[int, Row | RefusedError]]:
    """Yield the place and the columns of each row, in order; blank lines are skipped.

    In place of a row that cannot be read stands the error that says why.

    Raises:
        RefusedError: At the first place from which on nothing can be read, or if the file is gone.
    """
    place = 0
    if not path.exists():  # Gradio removes uploads after a while; see uploads.py
        raise RefusedError(strings.file_gone)
    try:
        for place, row in _rows(strings, path):
            if isinstance(row, DataError):
                yield place, RefusedError(_notice(strings, row, place))
            elif any(isinstance(cell, str) and len(cell) > MAX_CELL for cell in row.values()):
                limits: dict[str, Any] = {"line": place, "limit": f"{MAX_CELL:,}"}
                yield place, RefusedError(strings.long_cell.filled(**limits))
            else:
                yield place, row
    except DataError as error:
        raise RefusedError(_notice(strings, error, place)) from None


def _rows(strings: TableStrings, path: Path) -> Iterator[tuple[int, Any]]:
    form = _form(strings, path)
    if form == "xlsx":
        yield from workbook_rows(path)
    elif form == "csv":
        yield from csv_rows(_lines(strings, path, keep_ends=True), path.name, in_place=True)
    elif form == "jsonl":
        rows = json_rows(_lines(strings, path), path.name, in_place=True)
        written = ((place, row) for place, row in rows if row != "")  # blank lines
        yield from from_annotations(written, path.name)
    else:
        lines = _lines(strings, path)
        first = list(islice(lines, _SAMPLE))
        lines = chain(first, lines)
        beginning = [line for _, line in first]
        if is_nameless(beginning):
            yield from nameless_rows(lines, beginning, path.name, in_place=True)
        else:
            yield from ((n, {"text": line}) for n, line in lines if line.strip())


def _form(strings: TableStrings, path: Path) -> Form:
    """Return the form of a file: the command line's, but most .tsv files have names of columns."""
    if path.suffix.lower() != ".tsv":
        return form_of(path)
    with listening():  # what is assumed is told when the rows are read
        first = [line for _, line in islice(_lines(strings, path), _SAMPLE)]
        is_text = form_of(path) == "text" and len(first) >= FEW and is_nameless(first)
    return "text" if is_text else "csv"


def _lines(
    strings: TableStrings, path: Path, *, keep_ends: bool = False
) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        for number, line in read_lines(path, keep_ends=keep_ends):
            yield number, line
    except LongLineError:
        raise RefusedError(strings.long_line.filled(line=number + 1)) from None
    except DataError:  # the file is there and plain: a line has another encoding
        raise RefusedError(strings.not_utf8.filled(line=number + 1)) from None


def _notice(strings: TableStrings, error: DataError, place: int) -> Notice:
    if isinstance(error, TableError):
        notice: Notice = getattr(strings, error.kind)
        return notice.filled(**error.facts)
    return strings.not_json.filled(line=place) if place else strings.bad_array.filled()


def _refuse_other_kinds(strings: TableStrings, path: Path) -> None:
    if path.suffix.lower() not in KINDS:
        raise RefusedError(strings.other_kind.filled(name=path.name[-80:]))
    size = path.stat().st_size
    if size > MAX_BYTES:
        limits = {"size": f"{size / 2**20:,.0f}", "limit": f"{MAX_BYTES / 2**20:,.0f}"}
        raise RefusedError(strings.too_large.filled(**limits))
    if is_workbook(path):
        return
    with path.open("rb") as file:
        start = file.read(1 << 16)
    if start.startswith(_PACKED):
        raise RefusedError(strings.packed)
    if b"\0" in start and not utf16_codec(start.partition(b"\n")[0]):
        raise RefusedError(strings.binary)


def as_cell(value: Any) -> str:
    """Return a value as a cell of a table: strings as they are, others as JSON.

    >>> as_cell("好"), as_cell(0.5), as_cell(None), as_cell(["好"])
    ('好', '0.5', '', '["好"]')
    """
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
