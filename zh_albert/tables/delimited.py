"""CSV and TSV, with any usual separator, as people's programs write them."""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any

from zh_albert.files.notes import FileNote, tell
from zh_albert.files.textio import read_lines
from zh_albert.tables.cells import restored
from zh_albert.tables.columns import fields_of, from_the_names
from zh_albert.tables.table_error import NAMES_EXPECTED, TableError

_SEPARATORS = ",\t;|"
_OLD_MAC = "lines end in a carriage return alone, as on old Macs: save with \\n"
_MOST_LINES = 100  # of a row in a table with tabs
_LONGEST_CELL = 1 << 24  # characters; a quote without end would include the rest of the file


def is_csv(path: Path, chosen: Iterable[str] = ()) -> bool:
    """Return whether a file is a table with separators, by its name.

    A ``.tsv`` file also has to begin with known names of columns, or with one of those that are
    chosen, as it may hold pairs of texts.
    """
    found = re.search(r"\.(csv|tsv)(\.(xz|gz|bz2|zst))?$", path.name, re.IGNORECASE)
    if found is None or found[1].lower() == "csv":
        return found is not None
    first = next((line for _, line in read_lines(path) if line.strip()), "")
    cells = first.split("\t")
    return bool(fields_of(cells)) or not set(chosen).isdisjoint(cells)


def csv_rows(
    lines: Iterable[tuple[int, str]], source: Path | str, *, in_place: bool = False
) -> Iterator[tuple[int, Any]]:
    """Yield ``(line number, cells by column)`` of a table, whose first row names the columns.

    Lines must keep their ends, which may be part of a cell. The separator is the one that divides
    the first row into most cells; a cell with a separator, a quote or a line end is in double
    quotes (with tabs, a quote elsewhere is part of the text). Left out are blank lines, a first
    column without a name (an index, as pandas writes it), empty columns at the end, and rows that
    name the columns again, of which a warning tells. Cells are as ``harmless`` was given them.

    Args:
        lines: The table's.
        source: Named in errors.
        in_place: Yield the error of a row with too few or too many cells in its place.

    Raises:
        TableError: At the first row that cannot be read.
    """
    csv.field_size_limit(_LONGEST_CELL)
    begun, texts = _to_the_first_row(line for _, line in lines)
    separator = separator_of(begun[-1]) if begun else ","
    every = chain(begun, texts)
    rows = _tab_rows(every, source) if separator == "\t" else _rows(every, separator, source)
    header: list[str] = []
    written: list[str] = []
    for line, cells in from_the_names(rows, source):
        if not header:
            written = header = _checked_header(cells, source, line)
            if len({*map(restored, written)}) == len({*written}):  # names must stay apart
                header = [restored(name) for name in written]
        elif cells == written:
            said = f"{source}, line {line}: left out, for it names the columns again"
            tell(FileNote(said, "repeated_header", line=line))
        elif any(map(str.strip, cells)) or (cells and len(header) == 1):  # there, an empty text
            try:
                yield line, _by_column(header, cells, source, line)
            except TableError as error:
                if not in_place:
                    raise
                yield line, error


def _rows(
    lines: Iterator[str], separator: str, source: Path | str
) -> Iterator[tuple[int, list[str]]]:
    """Yield the last line and the cells of each row."""
    reader = csv.reader(lines, delimiter=separator, strict=True)
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            kind, problem = "bad_csv", "a quote is not closed or not doubled, or a cell is too long"
            if "new-line character" in str(error):
                kind, problem = "old_mac", _OLD_MAC
            raise TableError.of(kind, problem, source, reader.line_num) from None
        if cells is None:
            return
        yield reader.line_num, cells


def _tab_rows(lines: Iterator[str], source: Path | str) -> Iterator[tuple[int, list[str]]]:
    """Yield the last line and the cells of each row of a table with tabs.

    Programs that write tabs rarely quote, so that a quote is mostly part of a text. A cell is taken
    for a quoted one with tabs or line ends in it only if its row then has as many cells as the
    first one.
    """
    ahead: deque[str] = deque()
    number = count = 0

    def row_and_below() -> Iterator[str]:
        for place in range(_MOST_LINES):
            ahead.extend(islice(lines, int(place == len(ahead))))
            if place == len(ahead):
                return
            yield ahead[place]

    while row := next(row_and_below(), None):
        row = row.removesuffix("\n").removesuffix("\r")
        raw, used = row.split("\t"), 1
        cells = [_unquoted(cell) for cell in raw]
        if any(map(_is_open, raw)) and (len(raw) != count or _is_open(raw[-1])):
            reader = csv.reader(row_and_below(), delimiter="\t", strict=True)
            with suppress(csv.Error):  # no quoted cell
                found = next(reader)
                below = "".join(list(ahead)[1 : reader.line_num])
                if len(found) == count and not ("\t" in below and len(raw) == count):
                    cells, used = found, reader.line_num
        if used == 1 and "\r" in row:
            raise TableError.of("old_mac", _OLD_MAC, source, number + 1)
        for _ in range(used):
            ahead.popleft()
        number += used
        count = count or len(cells) * bool(row.strip())
        yield number, cells


def _is_open(cell: str) -> bool:
    return cell.startswith('"') and cell.count('"') % 2 == 1


def _to_the_first_row(lines: Iterator[str]) -> tuple[list[str], Iterator[str]]:
    """Return the lines to the first that is not blank, and an iterator of the others."""
    begun: list[str] = []
    for line in lines:
        begun.append(line)
        if line.strip():
            break
    return begun, lines


def separator_of(line: str) -> str:
    r"""Return the separator that divides the first row of a table into most cells.

    >>> [separator_of(line) for line in ("text;label", "a\tb,c\td", "text")]
    [';', '\t', ',']
    """
    try:
        counts = [len(next(csv.reader([line], delimiter=one), [])) for one in _SEPARATORS]
    except csv.Error:  # told when the rows are read
        return ","
    return _SEPARATORS[counts.index(max(counts))]


def _unquoted(cell: str) -> str:
    """Take quotes away that are around a whole cell."""
    inner = cell[1:-1]
    whole = len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if whole else cell


def _checked_header(cells: list[str], source: Path | str, line: int) -> list[str]:
    """Return the names of the columns, as they are; empty ones only at either end."""
    if not any(map(str.strip, cells)):
        return []
    named = [name for name in cells if name.strip()]
    inner = cells[cells.index(named[0]) : len(cells) - cells[::-1].index(named[-1])]
    if len(set(named)) < len(named) or len(inner) > len(named) or cells.index(named[0]) > 1:
        raise TableError.of("bad_header", NAMES_EXPECTED, source, line)
    return cells


def _by_column(
    header: list[str], cells: list[str], source: Path | str, line: int
) -> dict[str, str]:
    extra = cells[len(header) :]
    if len(cells) < len(header) or any(map(str.strip, extra)):
        counts = {"found": len(cells), "expected": len(header)}
        problem = "expected {expected} cells as in the first row, found {found}"
        raise TableError.of("ragged", problem, source, line, **counts)
    row = {name: restored(cell) for name, cell in zip(header, cells, strict=False) if name.strip()}
    behind = len(header) - 1
    while not header[behind].strip():  # an empty column has nothing in it
        if cells[behind].strip():
            raise TableError.of("bad_header", NAMES_EXPECTED, source, line)
        behind -= 1
    return row
