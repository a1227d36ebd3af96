"""Workbooks of spreadsheets (``.xlsx``): a sheet's rows as those of a table."""

from __future__ import annotations

import datetime
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from zh_albert.errors import DataError
from zh_albert.plain_files import how_to_raise, refuse_special, unpacked_limit

_LARGEST = 64  # times its size that a workbook may unpack to, as they repeat much
Cells = list[str]


def is_workbook(path: Path) -> bool:
    """Return whether a file is a workbook, by its name."""
    return re.search(r"\.xls[xmb]?$", path.name, re.IGNORECASE) is not None


def workbook_rows(path: Path, sheet: str | None = None) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield ``(row number, cells by column)`` of a sheet whose first row names the columns.

    Cells are text, as CSV has them; a formula's cell has its last value.

    Args:
        path: The workbook.
        sheet: Name of the sheet; None: the first visible one with a row below the names.

    Raises:
        DataError: If it is no workbook, too large, protected, or has no such sheet.
    """
    import openpyxl  # noqa: PLC0415  (takes a while)

    refuse_special(path)
    _refuse_hostile(path)
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (OSError, zipfile.BadZipFile, KeyError, ValueError, TypeError, SyntaxError) as error:
        raise DataError(f"{path}: no workbook that can be read: {error}") from None
    try:
        if sheet is not None and sheet not in book.sheetnames:
            listed = ", ".join(map(repr, book.sheetnames))
            raise DataError(f"{path}: there is no sheet {sheet!r}, but {listed}")
        sheets = [book[sheet]] if sheet else [s for s in book if s.sheet_state == "visible"]
        for one in sheets:
            rows = _rows(one.iter_rows(values_only=True), path)
            first = next(rows, None)
            if first is not None:
                yield first
                yield from rows
                return
        raise DataError(f"{path}: no sheet has rows below names of columns")
    finally:
        book.close()


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
                raise DataError.at(path, number, problem)
            continue
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
        hint = "Save it as .xlsx without a password, or as CSV"
        problem = (
            "expected an .xlsx workbook, found another kind (an old .xls, or one with a password)"
        )
        raise DataError(f"{path}: {problem}. {hint}") from None
    size = path.stat().st_size
    if unpacked > max(unpacked_limit(size), _LARGEST * size):
        raise DataError(f"{path}: unpacks to {unpacked:,} bytes from {size:,}; {how_to_raise()}")
