"""Checks of the fields of a task file's rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from zh_albert.errors import DataError
from zh_albert.tables.columns import TableRow
from zh_albert.tables.workbook import is_workbook
from zh_albert.tasks.texts import has_content

_BLANKS = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "\u200b\u2060\ufeff"
_WHOLE_NUMBER = re.compile(r"-?[0-9]+\.0+")
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")

Label = str | tuple[str, ...] | int | float
"""A class, any number of classes, or a value on a scale."""


def kind_of(label: Label) -> str:
    """Return the name of a label's kind.

    >>> [kind_of(label) for label in ("好", ("好", "快"), 3.5)]
    ['string', 'list', 'number']
    """
    match label:
        case str():
            return "string"
        case tuple():
            return "list"
        case _:
            return "number"


def refuse_no_examples(count: int, path: Path | str) -> None:
    """Check that a task file has examples.

    Raises:
        DataError: If it has none.
    """
    if not count:
        raise DataError(f"{path}: no examples: the file is empty")


class MissingFieldError(DataError):
    """A row of a file lacks a field."""


def refuse_missing_fields(
    row: dict[str, Any], names: Sequence[str], path: Path | str, line: int, *, form: str
) -> None:
    """Check that a row of a task file has its fields.

    Raises:
        MissingFieldError: If one is missing; the first is named, with the form of a row.
    """
    for name in names:
        if name not in row:
            problem = f'field "{name}" is missing, found {", ".join(map(repr, row)) or "none"}'
            hint = f"Each line is {form}"
            if isinstance(row, TableRow):
                hint = f"Name the column {name}"
                if name in ("text", "label"):
                    hint += f", or say which column it is: --{name}-column"
            elif inside := [field for field, value in row.items() if _holds_rows(value, name)]:
                hint += f", or the file is a list of them: save what is in {inside[0]!r} alone"
            raise MissingFieldError.at(path, line, problem, hint=hint)


def _holds_rows(value: Any, name: str) -> bool:
    """Return whether a value, such as "data" of what a web service sent, is a list of rows.

    Args:
        value: Of a field.
        name: A field that rows have; entities, for one, are no rows.
    """
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) and name in first


def checked_string(row: dict[str, Any], name: str, path: Path | str, line: int) -> str:
    """Return a text field of a row of a task file, which may be empty.

    Raises:
        DataError: If it is not a string.
    """
    text = row[name]
    if not isinstance(text, str):
        raise DataError.at(path, line, f'"{name}" must be a string, found {text!r:.80}')
    return text


def checked_text(row: dict[str, Any], name: str, path: Path | str, line: int) -> str:
    """Return a text field of a row of a task file.

    Raises:
        DataError: If it is not a string, or has no content.
    """
    text = checked_string(row, name, path, line)
    if not has_content(text):
        raise DataError.at(path, line, f'"{name}" is empty', hint="Remove the line")
    return text


def label_name(name: str) -> str:
    r"""Return the name of a class or type as it is compared everywhere.

    Without white space around it, of any kind, and for a whole number without an empty fraction,
    as spreadsheets and pandas add one.

    >>> label_name("\u3000好评\xa0"), label_name("1.0"), label_name("1.50")
    ('好评', '1', '1.50')
    """
    name = name.strip(_BLANKS)
    whole = name.partition(".")[0]
    return whole if _WHOLE_NUMBER.fullmatch(name) else name


def is_number(label: str) -> bool:
    """Return whether a label is written as a number, also as pandas writes small ones.

    >>> [is_number(label) for label in ("3.5", "-1", "1e-05", ".5", "nan", "1_000")]
    [True, True, True, True, False, False]
    """
    return _NUMBER.fullmatch(label) is not None


def class_name(label: Label) -> str:
    """Return the name of a class; for a number its digits, without an empty fraction.

    >>> class_name(1), class_name(1.0), class_name("1.0"), class_name(0.5)
    ('1', '1', '1', '0.5')

    Raises:
        DataError: If it is a list.
    """
    if isinstance(label, tuple):
        raise DataError(f"expected one class each, found the list {list(label)}")
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return label_name(str(label))


def checked_name(name: Any, field: str, path: Path | str, line: int) -> str:
    """Return the name of a class or type; see ``label_name``.

    Raises:
        DataError: If it is not a string, is empty, or cannot be printed.
    """
    if not isinstance(name, str):
        raise DataError.at(path, line, f'"{field}" must be a string, found {name!r:.80}')
    checked = label_name(name)
    if not checked:
        hint = "Of merged cells only the first has a value" if is_workbook(Path(path)) else ""
        raise DataError.at(path, line, f'"{field}" is empty', hint=hint)
    if not checked.isprintable():
        raise DataError.at(path, line, f'"{field}" must be printable, found {name!r:.80}')
    return checked


def refuse_not_finite(label: float, path: Path, line: int) -> None:
    """Check a label that is a number.

    Raises:
        DataError: If it is infinite, not a number, or too large for fp32.
    """
    largest = float(np.finfo(np.float32).max)
    if not -largest <= label <= largest:
        raise DataError.at(path, line, f'"label" must be finite, found {label!r:.80}')


def checked_label(label: Any, path: Path, line: int) -> Label:
    """Return a label of a row of a task file: a class, a list of classes, or a number.

    Raises:
        DataError: If it is none of these, cannot be printed, or is not finite.
    """
    if isinstance(label, list):
        return tuple(dict.fromkeys(checked_name(name, "label", path, line) for name in label))
    if isinstance(label, int | float) and not isinstance(label, bool):
        refuse_not_finite(label, path, line)
        return label
    if not isinstance(label, str):
        problem = f'"label" must be a string, a list of strings or a number, found {label!r:.80}'
        raise DataError.at(path, line, problem)
    return checked_name(label, "label", path, line)
