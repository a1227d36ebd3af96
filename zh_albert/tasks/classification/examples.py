"""Labelled texts and pairs of texts, and their task files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from zh_albert.errors import DataError
from zh_albert.tables.columns import BY_NAMES, TableLayout
from zh_albert.tables.task_rows import read_task_rows
from zh_albert.tasks.classification.marked_spans import text_with_marks
from zh_albert.tasks.fields import (
    Label,
    checked_label,
    checked_string,
    class_name,
    is_number,
    kind_of,
    refuse_missing_fields,
    refuse_no_examples,
)
from zh_albert.tasks.texts import Content, has_content


@dataclass(frozen=True, slots=True)
class TextExample:
    """One text, or one pair of texts, with its label.

    Attributes:
        text: As read; never empty, nor is one of a pair.
        label: See ``Label``.
        weight: Its weight in the loss, relative to other examples.
        place: File and line, for errors; empty if it is not from a file.
    """

    text: Content
    label: Label
    weight: float = 1.0
    place: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class UnlabelledText:
    """One text, or one pair of texts, without a label; a teacher provides its soft targets.

    Attributes:
        text: See ``TextExample``.
    """

    text: Content


def marked_text_of(row: dict[str, Any], source: Path | str, line: int) -> str:
    """Return the input of a classifier of single texts from a row, ``{"text"}``.

    A row of a coreference file, ``{"text", "span1", "span2"}``, is read with marks around its
    spans; see ``marked_spans``.

    Raises:
        DataError: If a field is missing or of another type.
    """
    refuse_missing_fields(row, ("text",), source, line, form='{"text": …, "label": …}')
    text = checked_string(row, "text", source, line)
    if "span1" in row or "span2" in row:
        return text_with_marks(row, text, source, line)
    return text


def pair_of(row: dict[str, Any], source: Path | str, line: int) -> tuple[str, str]:
    """Return the input of a classifier of pairs from a row, ``{"text_a", "text_b"}``.

    Raises:
        DataError: If a field is missing or of another type.
    """
    form = '{"text_a": …, "text_b": …, "label": …}'
    refuse_missing_fields(row, ("text_a", "text_b"), source, line, form=form)
    first, second = (checked_string(row, name, source, line) for name in ("text_a", "text_b"))
    return first, second


def read_text_examples(path: Path, layout: TableLayout = BY_NAMES) -> list[TextExample]:
    """Read a classification file of the task format, ``{"text", "label"}`` a line.

    Raises:
        DataError: With file and line: broken JSON, a missing or wrong field, an empty text, a
            label of another kind than the first; or an empty file.
    """
    return _read(path, marked_text_of, layout)


def read_pair_examples(path: Path, layout: TableLayout = BY_NAMES) -> list[TextExample]:
    """Read a file of pairs, ``{"text_a", "text_b", "label"}`` a line.

    Raises:
        DataError: See ``read_text_examples``.
    """
    return _read(path, pair_of, layout)


def read_unlabelled_texts(path: Path, layout: TableLayout = BY_NAMES) -> list[UnlabelledText]:
    """Read a file of texts, ``{"text"}`` a line; labels, if any, are ignored.

    Raises:
        DataError: With file and line: broken JSON, a missing or wrong field, an empty text; or an
            empty file.
    """
    return [UnlabelledText(content) for _, _, content in _contents(path, marked_text_of, layout)]


def read_unlabelled_pairs(path: Path, layout: TableLayout = BY_NAMES) -> list[UnlabelledText]:
    """Read a file of pairs, ``{"text_a", "text_b"}`` a line; see ``read_unlabelled_texts``."""
    return [UnlabelledText(content) for _, _, content in _contents(path, pair_of, layout)]


_ContentOf = Callable[[dict[str, Any], Path, int], Content]


def _read(path: Path, content_of: _ContentOf, layout: TableLayout) -> list[TextExample]:
    examples: list[TextExample] = []
    numeric = True  # all labels so far are numbers, or digits in quotes
    for number, row, content in _contents(path, content_of, layout):
        refuse_missing_fields(row, ("label",), path, number, form='{…, "label": …}')
        label = checked_label(row["label"], path, number)
        numeric &= kind_of(label) == "number" or (isinstance(label, str) and is_number(label))
        if examples and kind_of(label) != (first := kind_of(examples[0].label)):
            if not numeric:
                problem = (
                    f'"label" is a {kind_of(label)}, {row["label"]!r:.80}, the first a {first}'
                )
                raise DataError.at(path, number, problem, hint="Write all labels of a file alike")
            label = class_name(label)  # 1, 1.0 and "1" are one class
            if first == "number":
                examples = [replace(one, label=class_name(one.label)) for one in examples]
        examples.append(TextExample(content, label, place=f"{path}, line {number}"))
    return examples


def _contents(
    path: Path, content_of: _ContentOf, layout: TableLayout
) -> Iterator[tuple[int, dict[str, Any], Content]]:
    """Yield the number, the fields and the text (or pair) of each line; at least one."""
    number = 0
    for number, row in read_task_rows(path, layout):
        content = content_of(row, path, number)
        if not all(map(has_content, content if isinstance(content, tuple) else (content,))):
            names = '"text_a" or "text_b"' if isinstance(content, tuple) else '"text"'
            raise DataError.at(path, number, f"{names} is empty", hint="Remove the line")
        yield number, row, content
    refuse_no_examples(number, path)
