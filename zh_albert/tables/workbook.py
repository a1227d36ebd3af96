"""Workbooks of spreadsheets (``.xlsx``): a sheet's rows as those of a table."""

from __future__ import annotations

import datetime
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, Self
from xml.etree import ElementTree  # expat limits the expansion of entities

from zh_albert.errors import DataError
from zh_albert.files.notes import FileNote, tell
from zh_albert.files.plain_files import how_to_raise, refuse_special, unpacked_limit
from zh_albert.tables.columns import from_the_names
from zh_albert.tables.table_error import NAMES_EXPECTED, TableError

_LARGEST = 64  # times its size that a workbook may unpack to, as they repeat much
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_HEAD_BYTES = 1 << 16  # of a sheet: its range, and some hundred rows
_NOT_COMPUTED = re.compile(rb"<f[^<]*(?:/>|>[^<]*</f>)(?:<v ?/>|<v></v>)?</c>")
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_OLD = b"\xd0\xcf\x11\xe0"  # the beginning of .xls, and of workbooks with a password
_LOOKED_AT = 100  # rows of a sheet that may be empty
# What openpyxl and zipfile raise for damaged workbooks, some of it only while rows are read.
_DAMAGE = (
    *(OSError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, RuntimeError),
    *(LookupError, ValueError, TypeError, AttributeError, SyntaxError, AssertionError),
)
Cells = list[str]


class CellText(str):
    """The text of a cell that holds a number or a date, and its value: to be written as it was."""

    value: Any

    def __new__(cls, text: str, value: Any = None) -> Self:  # None while it is unpickled
        """Return the text with the cell's value."""
        cell = super().__new__(cls, text)
        cell.value = value
        return cell


def is_workbook(path: Path) -> bool:
    """Return whether a file is a workbook, by its name."""
    return re.search(r"\.xls[xmb]?$", path.name, re.IGNORECASE) is not None


def refuse_sheet(sheet: str | None, paths: Sequence[Path]) -> None:
    """Refuse a sheet's name beside files that have no sheets.

    Raises:
        DataError: If none of the files is a workbook.
    """
    if sheet is not None and not any(map(is_workbook, paths)):
        found = ", ".join(map(str, paths)) or "standard input"
        raise DataError(
            f"sheet {sheet!r}: expected a workbook (.xlsx), found {found}; leave it out"
        )


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
    if any(map(_NOT_COMPUTED.search, _heads(path, sheet))):
        problem = "formulas that were never computed are read as empty cells"
        hint = "open the workbook in a spreadsheet program and save it"
        tell(FileNote(f"{path}: {problem}; {hint}", "formulas"))
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
    hidden = [one.title for one in book if one.sheet_state != "visible"]
    sheets = [book[sheet]] if sheet else [one for one in book if one.title not in hidden]
    for place, one in enumerate(sheets, start=1):
        one.reset_dimensions()  # some programs write wrong ones
        rows = _rows(one.iter_rows(values_only=True), path)
        first = next(rows, None)
        if first is not None:
            if others := [other.title for other in sheets[place:] if _is_used(other)]:
                said = f"{path}: read from sheet {one.title!r}; there are also "
                said += ", ".join(map(repr, others))
                tell(FileNote(said, "sheet", name=one.title, others=", ".join(others)))
            yield first
            yield from rows
            return
    unseen = f"; hidden are {', '.join(map(repr, hidden))}" if hidden and not sheet else ""
    problem = f"no sheet has rows below names of columns{unseen}"
    raise TableError.of_file("empty_workbook", problem, path)


def _is_used(sheet: Any) -> bool:
    sheet.reset_dimensions()
    rows = islice(sheet.iter_rows(values_only=True), _LOOKED_AT)
    return any(value is not None for row in rows for value in row)


def stated_rows(path: Path, sheet: str | None = None) -> int | None:
    """Return how many rows a sheet says it has below the names of columns; None if it does not say.

    An estimate at no cost, for progress: blank rows count.

    Args:
        path: The workbook.
        sheet: See ``workbook_rows``.
    """
    for head in _heads(path, sheet):
        found = re.search(rb'<dimension ref="\w+:[A-Z]+([0-9]+)"', head)
        if found and int(found[1]) > 1:
            return int(found[1]) - 1
    return None


def _heads(path: Path, sheet: str | None) -> Iterator[bytes]:
    """Yield the first bytes of the sheets that may be read, unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            relations = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))  # noqa: S314
            parts = {one.get("Id"): f"/xl/{one.get('Target')}" for one in relations}
            book = ElementTree.fromstring(archive.read("xl/workbook.xml"))  # noqa: S314
            for one in book.iter(f"{{{_MAIN}}}sheet"):
                if one.get("name") == sheet if sheet else one.get("state", "visible") == "visible":
                    part = parts[one.get(_RELATION)].rpartition("/xl/")[2]
                    with archive.open(f"xl/{part}") as content:
                        yield content.read(_HEAD_BYTES)
    except _DAMAGE:
        return  # openpyxl says what is wrong


def _rows(rows: Iterator[tuple[Any, ...]], path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    names: Cells = []
    told = False
    numbered = ((n, [_cell(value) for value in values]) for n, values in enumerate(rows, start=1))
    filled = ((n, cells) for n, cells in numbered if any(map(str.strip, cells)))
    for number, cells in from_the_names(filled, path):
        if not names:
            names = cells
            used = [name for name in names if name.strip()]
            if len(set(used)) < len(used):
                raise TableError.of("bad_header", NAMES_EXPECTED, path, number)
            continue
        if cells == names:
            continue
        nameless = [c for n, c in zip_longest(names[1:], cells[1:], fillvalue="") if not n.strip()]
        if any(map(str.strip, nameless)) and not told:
            if len(used) == 1:
                raise TableError.of("bad_header", NAMES_EXPECTED, path, number)
            told = True
            said = f"{path}, line {number}: cells in columns without a name are left out"
            tell(FileNote(said, "nameless", line=number))
        whole = [*cells, *[""] * (len(names) - len(cells))]
        yield number, {n: c for n, c in zip(names, whole, strict=False) if n.strip()}


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):  # a carriage return is stored as _x000D_
        return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), value)
    return CellText(_text(value), value)


def _text(value: Any) -> str:
    match value:
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
    except IsADirectoryError:
        raise DataError(f"{path}: expected a workbook, found a folder") from None
    except _DAMAGE:
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
