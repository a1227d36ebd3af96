"""Answers for the lines of a file, as ``zh-albert predict`` and ``zh-corpora predict``
write them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from zh_albert.errors import ConfigError, DataError
from zh_albert.tasks.predictor import AnyPredictor
from zh_albert.textio import csv_rows, is_csv, parse_object

Form = Literal["text", "jsonl", "csv"]
"""Form of a line: a text (for pairs: two, separated by a tab), a JSON object, or CSV cells."""


def form_of(path: Path) -> Form:
    """Return the form of a file's lines, by its name.

    >>> [form_of(Path(name)) for name in ("a.jsonl.xz", "a.NDJSON", "a.csv", "a.txt")]
    ['jsonl', 'jsonl', 'csv', 'text']
    """
    if is_csv(path):
        return "csv"
    named = re.search(r"\.(jsonl?|ndjson)(\.(xz|gz|zst))?$", path.name, re.IGNORECASE)
    return "jsonl" if named else "text"


def answered_rows(
    predictor: AnyPredictor,
    lines: Iterable[tuple[int, str]],
    source: Path | str,
    form: Form,
    *,
    top_k: int | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield an object for each line, in order; for CSV, for each row after the column names.

    Args:
        predictor: See ``load``.
        lines: With their numbers, from 1; those of CSV with their line ends.
        source: Name of the file in errors.
        form: Form of a line; a question with choices can only be a JSON object.
        top_k: For readers: number of answers to each question, under ``answers``.

    Yields:
        See ``predictor.row``. A line that cannot be answered (an empty text, no [MASK]) has the
        reason under ``error``; the others are still answered.

    Raises:
        DataError: At the first line that is damaged, or lacks input of the model.
        ConfigError: If ``top_k`` is given and the model is not a reader.
    """
    if form == "text" and not predictor.reads_plain_lines:
        form = "jsonl"
    texts: Any = _contents(predictor, lines, source, form)
    place = "row" if form == "csv" else "line"
    answers: Iterable[Any]
    several: dict[str, Any] = {}
    if top_k is None:
        answers = predictor.stream(texts)
    elif predictor.ranks:
        ranker: Any = predictor
        answers, several = ranker.stream(texts, top_k=top_k), {"answers": []}
    else:
        raise ConfigError(
            "top_k is for readers, which rank several answers to a question; leave it out"
        )
    for number, answer in enumerate(answers, start=1):
        if isinstance(answer, DataError):
            yield {
                **predictor.unanswered,
                **several,
                "error": f"{source}, {place} {number}: {answer}",
            }
        else:
            yield predictor.row(answer)


def _contents(
    predictor: AnyPredictor, lines: Iterable[tuple[int, str]], source: Path | str, form: Form
) -> Iterator[Any]:
    """Yield the predictor's input for each line, or for each row of CSV."""
    content_of, blank = predictor.content_of, predictor.form.blank
    if form == "csv":
        for number, row in csv_rows(lines, source):
            yield content_of(row, source, number)
        return
    for number, line in lines:
        if not line.strip():  # a blank line has a row in the output, too
            yield blank
        elif form == "jsonl":
            yield content_of(parse_object(line, number, source), source, number)
        else:
            yield _halves(line, number, source) if blank == ("", "") else line


def _halves(line: str, number: int, source: Path | str) -> tuple[str, str]:
    first, tab, second = line.partition("\t")
    if not tab or "\t" in second:
        problem = f"expected two texts separated by a tab, found {line.count(chr(9))} tabs"
        hint = "Alternatively use JSON Lines: a file named .jsonl, or --format jsonl"
        raise DataError.at(source, number, problem, hint=hint)
    return first, second
