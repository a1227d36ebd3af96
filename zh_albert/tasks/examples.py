"""Labelled texts as they stand in task files, and texts that training must not have seen."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from zh_albert.errors import DataError
from zh_albert.textio import read_objects


@dataclass(frozen=True, slots=True)
class TextExample:
    """One text with its class.

    Attributes:
        text: As read; never empty.
        label: The class's name.
        weight: Its share in the loss, relative to other examples.
    """

    text: str
    label: str
    weight: float = 1.0


def read_text_examples(path: Path) -> list[TextExample]:
    """Read a classification file of the task format, ``{"text", "label"}`` a line.

    Raises:
        DataError: With file and line: broken JSON, a missing or wrong field, an empty text; or an
            empty file.
    """
    examples = []
    for number, row in read_objects(path):
        for name in ("text", "label"):
            if name not in row:
                problem = f'field "{name}" is missing, found {", ".join(map(repr, row)) or "none"}'
                hint = 'Each line is {"text": …, "label": …}'
                raise DataError.at(path, number, problem, hint=hint)
            if not isinstance(row[name], str):
                problem = f'"{name}" must be a string, found {row[name]!r}'
                raise DataError.at(path, number, problem)
        if not has_content(row["text"]):
            raise DataError.at(path, number, '"text" is empty', hint="Remove the line")
        if not row["label"].isprintable() or not row["label"]:
            problem = f'"label" must be printable, found {row["label"]!r}'
            raise DataError.at(path, number, problem)
        examples.append(TextExample(row["text"], row["label"]))
    if not examples:
        raise DataError(f"{path}: no examples, the file is empty")
    return examples


def has_content(text: str) -> bool:
    """Say whether anything is left of a text when spaces, controls and bare marks are gone."""
    return any(unicodedata.category(c)[0] not in "ZCM" and c != "\ufffd" for c in text)


def text_key(text: str) -> str:
    """Return what two texts share when they are the same but for width, case and white space.

    >>> text_key("Ａ 级 酒店") == text_key("a级酒店")
    True
    """
    return "".join(unicodedata.normalize("NFKC", text).lower().split())


def overlap(examples: Iterable[TextExample], others: Iterable[TextExample]) -> int:
    """Count the ``examples`` whose text also occurs in ``others``."""
    known = {text_key(other.text) for other in others}
    return sum(text_key(example.text) in known for example in examples)


def without(examples: Sequence[TextExample], others: Iterable[TextExample]) -> list[TextExample]:
    """Return the examples whose text does not occur in ``others``, in order."""
    known = {text_key(other.text) for other in others}
    return [example for example in examples if text_key(example.text) not in known]


def label_names(examples: Iterable[TextExample]) -> list[str]:
    """Return the class names, sorted.

    Raises:
        DataError: If there is only one: nothing could be told apart.
    """
    labels = sorted({example.label for example in examples})
    if len(labels) < 2:
        found = f"one class: {labels[0]!r}" if labels else "none"
        raise DataError(f"expected at least two different labels, found {found}")
    return labels


def refuse_unseen_labels(
    examples: Iterable[TextExample], labels: Sequence[str], source: Path | str
) -> None:
    """Check evaluation data against the model's classes.

    Raises:
        DataError: Naming the labels the model was never shown.
    """
    unseen = sorted({example.label for example in examples} - set(labels))
    if unseen:
        raise DataError(
            f"{source}: labels {unseen} do not occur in training; the model knows "
            f"{', '.join(labels)}. Map or remove these examples"
        )
