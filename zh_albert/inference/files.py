"""Answers for the rows of a file, as ``zh-albert predict`` and ``zh-corpora predict``
write them.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from zh_albert.errors import ConfigError, DataError
from zh_albert.files.textio import read_lines
from zh_albert.tables.columns import with_fields
from zh_albert.tables.delimited import csv_rows, is_csv
from zh_albert.tables.objects import json_rows
from zh_albert.tables.table_error import TableError
from zh_albert.tables.workbook import is_workbook, stated_rows, workbook_rows
from zh_albert.tasks.fields import MissingFieldError
from zh_albert.tasks.predictor import AnyPredictor

Form = Literal["text", "jsonl", "csv", "xlsx"]
"""Form of a file: a text a line (for pairs: two, separated by a tab), JSON objects, a table, or a
workbook.
"""
Row = dict[str, Any]
Content = Any  # of the predictor; or a DataError in its place


class Survey(NamedTuple):
    """What is in a file.

    Attributes:
        rows: How many; of a workbook what it says of itself, None if it does not.
        columns: Names of the fields that any row has; none of a workbook, whose rows all have the
            same.
    """

    rows: int | None
    columns: list[str]


def form_of(path: Path, chosen: Iterable[str] = ()) -> Form:
    """Return the form of a file, by its name; for ``chosen`` see ``is_csv``.

    >>> [form_of(Path(name)) for name in ("a.jsonl.xz", "a.NDJSON", "a.csv", "a.txt", "a.xlsx")]
    ['jsonl', 'jsonl', 'csv', 'text', 'xlsx']
    """
    if is_workbook(path):
        return "xlsx"
    if is_csv(path, chosen):
        return "csv"
    named = re.search(r"\.(jsonl?|ndjson)(\.(xz|gz|bz2|zst))?$", path.name, re.IGNORECASE)
    return "jsonl" if named else "text"


def form_for(predictor: AnyPredictor, path: Path | None, chosen: Iterable[str] = ()) -> Form:
    """Return the form of a predictor's input, see ``form_of``; None: standard input."""
    form = form_of(path, chosen) if path else "text"
    return "jsonl" if form == "text" and not predictor.reads_plain_lines else form


def file_rows(
    path: Path, form: Form, *, chosen: Mapping[str, str] | None = None, sheet: str | None = None
) -> Iterator[tuple[int, Any]]:
    """Yield the rows of a file with their places: lines as they are, or objects.

    Args:
        path: The file; plain lines may come from a pipe.
        form: See ``Form``.
        chosen: Field → the column of a table that holds it; see ``with_fields``.
        sheet: Of a workbook; see ``workbook_rows``.
    """
    if form == "xlsx":
        return with_fields(workbook_rows(path, sheet), path, chosen)
    lines = read_lines(path, keep_ends=form == "csv", pipes=True)
    return rows_of_lines(lines, path, form, chosen=chosen)


def survey(
    path: Path, form: Form, *, chosen: Mapping[str, str] | None = None, sheet: str | None = None
) -> Survey:
    """Read a file once, before its rows are answered; see ``file_rows``.

    Reading a workbook takes seconds for 100,000 rows, other files a tenth of that.
    """
    if form == "xlsx":
        return Survey(stated_rows(path, sheet), [])
    count, columns = 0, dict[str, None]()
    for _, row in file_rows(path, form, chosen=chosen):
        count += 1
        if isinstance(row, dict):
            columns.update(dict.fromkeys(getattr(row, "own", row)))
    return Survey(count, list(columns))


def rows_of_lines(
    lines: Iterator[tuple[int, str]],
    source: Path | str,
    form: Form,
    *,
    chosen: Mapping[str, str] | None = None,
) -> Iterator[tuple[int, Any]]:
    """Yield the rows of lines; those of CSV have their ends. See ``file_rows``."""
    if form == "csv":
        return with_fields(csv_rows(lines, source, in_place=True), source, chosen)
    if form == "jsonl":
        return with_fields(
            json_rows(lines, source, in_place=True), source, chosen, by_content=False
        )
    return lines


def answered_rows(
    predictor: AnyPredictor,
    rows: Iterable[tuple[int, Any]],
    source: Path | str,
    *,
    top_k: int | None = None,
) -> Iterator[tuple[Any, Row]]:
    """Yield each row with an object for its answer, in order.

    Args:
        predictor: See ``load``.
        rows: With their places: lines, objects, or a DataError in place of one.
        source: Name of the file in errors.
        top_k: For readers: number of answers to each question, under ``answers``.

    Yields:
        The row, and ``predictor.row``. A row that cannot be answered (an empty text, no [MASK], no
        text at all) has the reason under ``error``; the others are still answered.

    Raises:
        DataError: If the first row is damaged or lacks input of the model, as all will then.
        ConfigError: If ``top_k`` is given and the model is not a reader.
    """
    read: deque[tuple[int, Any, Content]] = deque()  # rows that are on their way
    contents = _passed_on(_contents(predictor, rows, source), read, predictor.form.blank)
    answers: Iterable[Any]
    several: Row = {}
    if top_k is None:
        answers = predictor.stream(contents)
    elif predictor.ranks:
        ranker: Any = predictor
        answers, several = ranker.stream(contents, top_k=top_k), {"answers": []}
    else:
        raise ConfigError(
            "top_k is for readers, which rank several answers to a question; leave it out"
        )
    for answer in answers:
        place, row, content = read.popleft()
        if isinstance(content, DataError):
            yield row, {**predictor.unanswered, **several, "error": str(content)}
        elif isinstance(answer, DataError):
            error = f"{source}, line {place}: {answer}"
            yield row, {**predictor.unanswered, **several, "error": error}
        else:
            yield row, predictor.row(answer)


def _passed_on(
    contents: Iterable[tuple[int, Any, Content]],
    read: deque[tuple[int, Any, Content]],
    blank: Content,
) -> Iterator[Content]:
    """Yield contents, and remember their rows; a damaged one is asked as a blank."""
    for place, row, content in contents:
        read.append((place, row, content))
        yield blank if isinstance(content, DataError) else content


def _contents(
    predictor: AnyPredictor, rows: Iterable[tuple[int, Any]], source: Path | str
) -> Iterator[tuple[int, Any, Content]]:
    """Yield each row with the predictor's input, or with what is wrong."""
    blank, begun = predictor.form.blank, False
    for place, row in rows:
        if isinstance(row, str) and not row.strip():  # a blank line has a row in the output, too
            yield place, row, blank
            continue
        content: Content = row
        try:
            if isinstance(row, DataError):
                raise row
            if not isinstance(row, str):
                content = predictor.content_of(row, source, place)
            elif not predictor.reads_plain_lines:
                problem = "expected rows with fields, found a line of plain text"
                hint = "Use JSON Lines: a file named .jsonl, or --format jsonl"
                raise DataError.at(source, place, problem, hint=hint)
            elif blank == ("", ""):
                content = _halves(row, place, source)
        except DataError as error:
            # A table's header was read; of other files the first row says what they are.
            readable = isinstance(row, dict | TableError)
            hopeless = not readable or isinstance(error, MissingFieldError)
            if hopeless and not begun:
                raise
            content = error
        begun = True
        yield place, row, content


def _halves(line: str, number: int, source: Path | str) -> tuple[str, str]:
    first, tab, second = line.partition("\t")
    if not tab or "\t" in second:
        problem = f"expected two texts separated by a tab, found {line.count(chr(9))} tabs"
        hint = "Alternatively use JSON Lines: a file named .jsonl, or --format jsonl"
        raise DataError.at(source, number, problem, hint=hint)
    return first, second
