"""Rows of the files that tasks are learned from, also as annotation tools export them."""

from __future__ import annotations

from itertools import chain, islice
from pathlib import Path

from zh_albert.errors import DataError
from zh_albert.files.textio import read_lines
from zh_albert.tables.annotations import from_annotations
from zh_albert.tables.columns import BY_NAMES, TableLayout, with_fields
from zh_albert.tables.delimited import is_csv
from zh_albert.tables.nameless import is_nameless, nameless_rows
from zh_albert.tables.objects import Objects, json_rows, read_objects
from zh_albert.tables.tagged_text import brat_rows, is_tagged, tagged_rows
from zh_albert.tables.workbook import is_workbook

LOOKED_AT = 50  # lines


def read_task_rows(path: Path, layout: TableLayout = BY_NAMES) -> Objects:
    """Yield ``(line number, row)`` of a task file, of whatever kind.

    What ``read_objects`` reads, and besides it brat's files (an ``.ann`` and the ``.txt`` beside
    it), tokens with tags in columns, texts with a label and a tab between, and exports of
    annotation tools (``annotations``), which are known by what is in them.

    Args:
        path: The file.
        layout: Of tables, workbooks and JSON.

    Raises:
        DataError: At the first row that cannot be read.
    """
    if path.suffix in (".ann", ".txt"):
        annotated = path.with_suffix(".ann")
        if path == annotated or annotated.exists():
            return brat_rows(annotated)
    if is_workbook(path) or is_csv(path, layout.columns.values()):
        return read_objects(path, chosen=layout.columns, sheet=layout.sheet)
    return _by_content(path, layout)


def _by_content(path: Path, layout: TableLayout) -> Objects:
    lines = read_lines(path)
    first = list(islice(lines, LOOKED_AT))
    lines = chain(first, lines)
    beginning = [line for _, line in first]
    filled = next((line.strip() for line in beginning if line.strip()), "")
    if is_tagged(beginning):
        yield from tagged_rows(lines, path)
    elif is_nameless(beginning):
        yield from nameless_rows(lines, beginning, path)
    elif "\t" in filled and filled[0] not in "{[":
        problem = "expected texts and a label that comes again, with tabs between, or JSON"
        hint = "Name the columns in the first line, such as text and label"
        raise DataError.at(path, 1, problem, hint=hint)
    else:
        rows = from_annotations(json_rows(lines, path), path)
        yield from with_fields(rows, path, layout.columns, by_content=False)
