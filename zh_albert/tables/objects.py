"""Rows of any file that people bring: JSON Lines, a JSON array, CSV, TSV, workbooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from zh_albert.errors import DataError
from zh_albert.files.plain_files import how_to_raise, limit_bytes
from zh_albert.files.textio import LENIENT, parse_object, read_lines
from zh_albert.tables.columns import with_fields
from zh_albert.tables.delimited import csv_rows, is_csv
from zh_albert.tables.table_error import TableError
from zh_albert.tables.workbook import is_workbook, workbook_rows

Objects = Iterator[tuple[int, dict[str, Any]]]


def read_objects(
    path: Path, *, chosen: Mapping[str, str] | None = None, sheet: str | None = None
) -> Objects:
    """Yield ``(line number, object)`` of a file of rows.

    By its name it is a workbook or a table with separators, else JSON Lines, or one array of
    objects. Blank lines are skipped. All values of a table are strings, and its columns have the
    names of the fields they hold (``with_fields``).

    Args:
        path: The file.
        chosen: Field → the column of a table that holds it.
        sheet: Of a workbook; see ``workbook_rows``.

    Raises:
        DataError: At the first row that cannot be read.
    """
    if is_workbook(path):
        yield from with_fields(workbook_rows(path, sheet), path, chosen)
    elif is_csv(path, (chosen or {}).values()):
        yield from with_fields(csv_rows(read_lines(path, keep_ends=True), path), path, chosen)
    else:
        yield from json_rows(read_lines(path), path)


def json_rows(
    lines: Iterator[tuple[int, str]], source: Path | str, *, in_place: bool = False
) -> Iterator[tuple[int, Any]]:
    """Yield the objects of JSON Lines, or of one JSON array, with their line (place in the array).

    One object over several lines, whose first is ``{``, is also read, as exports of SQuAD are.

    Args:
        lines: The file's lines.
        source: Named in errors.
        in_place: Yield the error of a damaged line, and blank lines, in their places.

    Raises:
        DataError: At the first that is not an object, unless ``in_place``.
    """
    begun: list[tuple[int, str]] = []
    for number, line in lines:
        begun.append((number, line))
        if line.strip():
            break
    lines = chain(begun, lines)
    opening = begun[-1][1].strip() if begun else ""
    whole = None
    if opening == "{":
        lines, whole = _object_in(lines)
    if whole is not None:
        yield 1, whole
    elif not opening.startswith("["):
        for number, line in lines:
            if not line.strip():
                yield from [(number, "")] * in_place
                continue
            try:
                yield number, parse_object(line, number, source)
            except DataError as error:
                if not in_place:
                    raise
                yield number, error
    else:
        yield from _array_rows(lines, source, in_place=in_place)


def _object_in(lines: Iterator[tuple[int, str]]) -> tuple[Iterator[tuple[int, str]], Any]:
    """Return the lines again, and the object that they are together; None if they are none."""
    begun, size = [], 0
    for number, line in lines:
        begun.append((number, line))
        size += len(line)
        if size > limit_bytes():
            break
    try:
        whole = LENIENT.decode("\n".join(line for _, line in begun))
    except (ValueError, RecursionError):
        whole = None
    return chain(begun, lines), whole if isinstance(whole, dict) else None


def _array_rows(
    lines: Iterator[tuple[int, str]], source: Path | str, *, in_place: bool
) -> Iterator[tuple[int, Any]]:
    text, size = [], 0
    for _, line in lines:
        text.append(line)
        size += len(line)
        if size > limit_bytes():
            problem = f"expected a JSON array of at most {limit_bytes():,} characters"
            problem += f"; use JSON Lines, or {how_to_raise()}"
            raise TableError.of_file("large_array", problem, source)
    try:
        rows = LENIENT.decode("\n".join(text))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{source}: not a JSON array that can be read: {error}") from None
    for number, row in enumerate(rows, start=1):
        if isinstance(row, dict):
            yield number, row
            continue
        problem = f"expected a JSON object in the array, found {type(row).__name__}"
        wrong = DataError(f"{source}, element {number}: {problem}")
        if not in_place:
            raise wrong
        yield number, wrong
