"""Segmented texts, and their task files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from zh_albert.errors import DataError
from zh_albert.tables.columns import BY_NAMES, TableLayout
from zh_albert.tables.task_rows import read_task_rows
from zh_albert.tasks.fields import checked_text, refuse_missing_fields, refuse_no_examples

_FORM = '{"text": …, "words": […]}'


class WordSpan(NamedTuple):
    """One word: characters ``start`` to ``end`` of its text, end not included."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SegmentationExample:
    """One text with its words.

    Attributes:
        text: As read; never empty.
        words: Words in order; only white space lies between them.
    """

    text: str
    words: tuple[WordSpan, ...]


def read_segmentation_examples(
    path: Path, layout: TableLayout = BY_NAMES
) -> list[SegmentationExample]:
    """Read a segmentation file of the task format, ``{"text", "words"}`` a line.

    Raises:
        DataError: With file and line: broken JSON, a missing or wrong field, an empty text, words
            that do not match the text; or an empty file.
    """
    examples = []
    for number, row in read_task_rows(path, layout):
        refuse_missing_fields(row, ("text", "words"), path, number, form=_FORM)
        text = checked_text(row, "text", path, number)
        words = row["words"]
        if not isinstance(words, list) or not all(isinstance(w, str) and w for w in words):
            problem = f'"words" must be a list of strings, none of them empty, found {words!r:.80}'
            raise DataError.at(path, number, problem, hint=f"Each line is {_FORM}")
        examples.append(SegmentationExample(text, _spans(text, words, path, number)))
    refuse_no_examples(len(examples), path)
    return examples


def _spans(text: str, words: list[str], path: Path, line: int) -> tuple[WordSpan, ...]:
    spans, end = [], 0
    for word in filter(str.strip, words):  # white space may be given, too
        start = end + len(text[end:]) - len(text[end:].lstrip())
        if not text.startswith(word, start):
            there = text[start : start + len(word)]
            problem = f'"words" has {word!r:.40} where the text has {there!r:.40}'
            raise DataError.at(path, line, problem, hint="The words, joined, must be the text")
        end = start + len(word)
        # A word ends at white space: predictions never reach over it.
        spans += [WordSpan(start + m.start(), start + m.end()) for m in re.finditer(r"\S+", word)]
    if rest := text[end:].strip():
        problem = f'"words" ends before {rest!r:.40}'
        raise DataError.at(path, line, problem, hint="The words, joined, must be the text")
    return tuple(spans)
