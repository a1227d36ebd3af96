"""Workbooks of spreadsheets (``.xlsx``): a sheet's rows as those of a table."""

from __future__ import annotations

import datetime
import re
import zipfile
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from zh_albert.errors import DataError
from zh_albert.file_notes import FileNote, tell
from zh_albert.plain_files import how_to_raise, refuse_special, unpacked_limit
from zh_albert.tables.delimited import TableError

_LARGEST = 64  # times its size that a workbook may unpack to, as they repeat much
_OLD = b"\xd0\xcf\x11\xe0"  # the beginning of .xls, and of workbooks with a password
_LOOKED_AT = 100  # rows of a sheet that may be empty
# What openpyxl raises for damaged workbooks, some of it only while rows are read.
_DAMAGE = (
    *(OSError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError),
    *(LookupError, ValueError, TypeError, AttributeError, SyntaxError, AssertionError),
)
Cells = list[str]


def is_workbook(path: Path) -> bool:
    """Return whether a file is a workbook, by its name."""
    return re.search(r"\.xls[xmb]?$", path.name, re.IGNORECASE) is not None


def workbook_rows(path: Path, sheet: str | None = None) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield ``(row number, cells by column)`` of a sheet whose first row names the columns.

    Cells are text, as CSV has them; a formula's cell has its last value. If other sheets have
    something in them too, a note tells which one is read.

    Args:
        path: The workbook.
        sheet: Name of the sheet; None: the first visible one with a row below the names.

    Raises:
        TableError: If it is no workbook, damaged, too large or protected, or has no rows.
        DataError: If it has no such sheet.
    """
    import openpyxl  # noqa: PLC0415  (takes a while)

    refuse_special(path)
    _refuse_hostile(path)
    with path.open("rb") as file:  # by its name, openpyxl would refuse a renamed one
        try:
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            yield from _sheet_rows(book, path, sheet)
        except DataError:
            raise
        except _DAMAGE as error:
            problem = f"no workbook that can be read ({error!r:.200}). Open it, and save it again"
            raise TableError.of_file("bad_workbook", problem, path) from None


def _sheet_rows(book: Any, path: Path, sheet: str | None) -> Iterator[tuple[int, dict[str, str]]]:
    if sheet is not None and sheet not in book.sheetnames:
        listed = ", ".join(map(repr, book.sheetnames))
        raise DataError(f"{path}: there is no sheet {sheet!r}, but {listed}")
    sheets = [book[sheet]] if sheet else [s for s in book if s.sheet_state == "visible"]
    for place, one in enumerate(sheets, start=1):
        one.reset_dimensions()  # some programs write wrong ones
        rows = _rows(one.iter_rows(values_only=True), path)
        first = next(rows, None)
        if first is not None:
            if others := [other.title for other in sheets[place:] if _is_used(other)]:
                _tell_sheet(path, one.title, others)
            yield first
            yield from rows
            return
    problem = (
        "no sheet has rows with a value below names of columns. A formula has one once a "
        "spreadsheet has saved it"
    )
    raise TableError.of_file("empty_workbook", problem, path)


def _is_used(sheet: Any) -> bool:
    sheet.reset_dimensions()
    rows = islice(sheet.iter_rows(values_only=True), _LOOKED_AT)
    return any(value is not None for row in rows for value in row)


def _tell_sheet(path: Path, name: str, others: list[str]) -> None:
    said = f"{path}: read from sheet {name!r}; there are also {', '.join(map(repr, others))}"
    tell(FileNote(said, "sheet", name=name, others=", ".join(others)))


def _rows(rows: Iterator[tuple[Any, ...]], path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    names: Cells = []
    for number, values in enumerate(rows, start=1):
        cells = [_text(value) for value in values]
        if not any(map(str.strip, cells)) or cells == names:
            continue
        if not names:
            names = cells
            used = [name for name in names if name.strip()]
            if len(set(used)) < len(used):
                problem = "expected a name for each column, no two alike, as the first row"
                raise TableError.of("bad_header", problem, path, number)
            continue
        cells += [""] * (len(names) - len(cells))
        yield number, {n: c for n, c in zip(names, cells, strict=False) if n.strip()}


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case float() if value.is_integer():
            return str(int(value))
        case datetime.datetime() if value.time() == datetime.time():
            return value.date().isoformat()
        case datetime.date() | datetime.time():
            return value.isoformat()
    return str(value)


def _refuse_hostile(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except (OSError, zipfile.BadZipFile):
        with path.open("rb") as file:
            is_old = file.read(len(_OLD)) == _OLD
        found = "an old .xls, or one with a password" if is_old else "a file of another kind"
        problem = f"expected an .xlsx workbook, found {found}"
        hint = "Save it as .xlsx without a password, or as CSV"
        kind = "old_workbook" if is_old else "no_workbook"
        raise TableError.of_file(kind, f"{problem}. {hint}", path) from None
    size = path.stat().st_size
    if unpacked > max(unpacked_limit(size), _LARGEST * size):
        problem = f"unpacks to {unpacked:,} bytes from {size:,}; {how_to_raise()}"
        raise TableError.of_file("large_workbook", problem, path)
