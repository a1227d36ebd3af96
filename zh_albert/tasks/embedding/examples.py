"""Training and evaluation examples of sentence vectors, and their task files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zh_albert.errors import DataError
from zh_albert.tables.columns import BY_NAMES, TableLayout
from zh_albert.tables.task_rows import read_task_rows
from zh_albert.tasks.fields import (
    checked_name,
    checked_text,
    label_name,
    refuse_missing_fields,
    refuse_no_examples,
    refuse_not_finite,
)
from zh_albert.tasks.texts import Content

SAME_MEANING = ("similar", "entailment")
"""Labels of pairs whose texts mean the same, or nearly."""


@dataclass(frozen=True, slots=True)
class EmbeddingExample:
    """A text, or a pair of texts.

    Attributes:
        text: As read; never empty, nor is one of a pair.
        label: Of a pair: its similarity, a number, or the name of a class; None: the texts mean the
            same.
        negative: Of a pair: a third text that means something else, however alike it looks.
        vector: Of a text: the row of a teacher's vectors that is its own.
    """

    text: Content
    label: float | str | None = None
    negative: str | None = None
    vector: int | None = None


def read_embedding_examples(path: Path, layout: TableLayout = BY_NAMES) -> list[EmbeddingExample]:
    """Read ``{"text"}`` or ``{"text_a", "text_b"}`` a line; see ``EmbeddingExample``.

    A text may have ``"vector"``, a pair ``"label"`` and ``"negative"``.

    Raises:
        DataError: With file and line: broken JSON, a missing or wrong field, an empty text; or an
            empty file.
    """
    examples = []
    for number, row in read_task_rows(path, layout):
        if "text" in row:
            text, vector = checked_text(row, "text", path, number), row.get("vector")
            if vector is not None and (type(vector) is not int or vector < 0):
                problem = f'"vector" must be the number of a row, from 0, found {vector!r:.80}'
                raise DataError.at(path, number, problem)
            examples.append(EmbeddingExample(text, vector=vector))
            continue
        form = '{"text": …} or {"text_a": …, "text_b": …}'
        refuse_missing_fields(row, ("text_a", "text_b"), path, number, form=form)
        first, second = (checked_text(row, name, path, number) for name in ("text_a", "text_b"))
        label = _checked_label(row.get("label"), path, number)
        negative = checked_text(row, "negative", path, number) if row.get("negative") else None
        examples.append(EmbeddingExample((first, second), label, negative))
    refuse_no_examples(len(examples), path)
    return examples


def read_together(
    examples: Iterable[EmbeddingExample], positive_threshold: float
) -> list[EmbeddingExample]:
    """Return the examples that teach: all but the pairs that do not mean the same.

    Args:
        examples: Texts and pairs.
        positive_threshold: Pairs with numeric labels of at least this value are positives.
    """
    return [
        example
        for example in examples
        if example.label is None or _alikeness(example.label, positive_threshold) == 1
    ]


def judged(
    examples: Sequence[EmbeddingExample], source: Path | str
) -> tuple[list[tuple[str, str]], list[float]]:
    """Return pairs and their similarities: the number, or 1 for ``SAME_MEANING``, else 0.

    Raises:
        DataError: If an example is not a pair with a label, all labels are the same, or some are
            numbers and some names.
    """
    pairs, gold = [], []
    for example in examples:
        if not isinstance(example.text, tuple) or example.label is None:
            raise DataError(
                f'{source}: expected pairs, {{"text_a", "text_b", "label"}}, to score vectors on, '
                f"found {example.text!r:.50} without a label"
            )
        pairs.append(example.text)
        gold.append(_alikeness(example.label))
    if len({isinstance(example.label, str) for example in examples}) > 1:
        raise DataError(  # 1 for "similar" is little beside numbers up to 5
            f"{source}: expected numbers or names as labels, to score vectors on, found both: "
            "score the pairs of each kind by themselves"
        )
    if gold and min(gold) == max(gold):
        labels = sorted({str(example.label) for example in examples})
        raise DataError(
            f"{source}: expected labels that differ, to score vectors on: numbers, or similar and "
            f"entailment for what means the same and other names for what does not; found "
            f"{', '.join(labels[:5])}{' …' if len(labels) > 5 else ''}"
        )
    return pairs, gold


def _alikeness(label: float | str, positive_threshold: float | None = None) -> float:
    if isinstance(label, str):
        return float(label in SAME_MEANING)
    return label if positive_threshold is None else float(label >= positive_threshold)


def named_or_number(label: str) -> float | str:
    """Return the number that a string holds, as CSV has only strings, else the name of a class.

    >>> named_or_number("4.5"), named_or_number("similar ")
    (4.5, 'similar')
    """
    name = label_name(label)
    try:
        value = float(name)
    except ValueError:
        return name
    return value if math.isfinite(value) else name


def _checked_label(label: Any, path: Path, line: int) -> float | str | None:
    if label is None:
        return None
    if isinstance(label, int | float) and not isinstance(label, bool):
        refuse_not_finite(label, path, line)
        return float(label)
    if isinstance(label, str):
        return named_or_number(checked_name(label, "label", path, line))
    problem = f'"label" must be a number or a string, found {label!r:.80}'
    raise DataError.at(path, line, problem)
