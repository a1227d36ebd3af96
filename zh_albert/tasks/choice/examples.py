"""Questions with choices, and their task files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from zh_albert.errors import DataError
from zh_albert.tables.columns import BY_NAMES, TableLayout
from zh_albert.tables.task_rows import read_task_rows
from zh_albert.tasks.fields import (
    checked_string,
    checked_text,
    refuse_missing_fields,
    refuse_no_examples,
)
from zh_albert.tasks.texts import has_content

_FORM = '{"context": …, "question": …, "choices": […], "label": …}'


class Question(NamedTuple):
    """A question about a text, with its choices."""

    context: str
    """The text; never empty."""
    question: str
    """The question; may be empty if the context itself asks (a cloze)."""
    choices: tuple[str, ...]
    """Two or more."""
    group: str | None = None
    """Questions of one group have the same choices, and no choice is right for two of them."""


@dataclass(frozen=True, slots=True)
class ChoiceExample:
    """A question with its answer.

    Attributes:
        asked: The question.
        label: Index of the right choice, from 0.
    """

    asked: Question
    label: int

    @property
    def text(self) -> tuple[str, str]:
        """The text that identifies an example; the same question may occur with other choices."""
        return self.asked.context, self.asked.question


def accuracy(examples: Sequence[ChoiceExample], chosen: Sequence[int]) -> dict[str, float]:
    """Return the ``accuracy`` of choices, a fraction."""
    right = sum(example.label == choice for example, choice in zip(examples, chosen, strict=True))
    return {"accuracy": right / len(examples)}


def question_of(row: dict[str, Any], source: Path | str, line: int) -> Question:
    """Return the question of a row, ``{"context", "question", "choices"}`` and maybe ``"group"``.

    Raises:
        DataError: If a field is missing or of another type, or there are fewer than two choices.
    """
    refuse_missing_fields(row, ("context", "question", "choices"), source, line, form=_FORM)
    choices, group = row["choices"], row.get("group")
    if not isinstance(choices, list) or not all(isinstance(choice, str) for choice in choices):
        problem = f'"choices" must be a list of strings, found {choices!r:.80}'
        raise DataError.at(source, line, problem)
    if len(choices) < 2:
        problem = f'"choices" must hold at least two, found {choices}'
        raise DataError.at(source, line, problem, hint="Remove the line, there is no choice")
    if group is not None and not isinstance(group, str):
        raise DataError.at(source, line, f'"group" must be a string, found {group!r:.80}')
    context, question = (
        checked_string(row, name, source, line) for name in ("context", "question")
    )
    return Question(context, question, tuple(choices), group)


def read_choice_examples(path: Path, layout: TableLayout = BY_NAMES) -> list[ChoiceExample]:
    """Read a multiple-choice file, ``{"context", "question", "choices", "label"}`` a line.

    The label is the index of the right choice, from 0, or its text. A string of digits that is not
    a choice is taken as the index.

    Raises:
        DataError: With file and line: broken JSON, a missing or wrong field, an empty context or
            choice, fewer than two choices, a label that is none of them, a group whose questions
            have different choices or the same answer; or an empty file.
    """
    examples: list[ChoiceExample] = []
    groups: dict[str, tuple[tuple[str, ...], set[int]]] = {}
    for number, row in read_task_rows(path, layout):
        refuse_missing_fields(row, ("label",), path, number, form=_FORM)
        asked = question_of(row, path, number)
        checked_text(row, "context", path, number)
        if not all(map(has_content, asked.choices)):
            problem = f"a choice is empty: {list(asked.choices)}"
            raise DataError.at(path, number, problem, hint="Remove the line")
        label = _checked_label(row["label"], asked.choices, path, number)
        if asked.group is not None:
            choices, taken = groups.setdefault(asked.group, (asked.choices, set()))
            if choices != asked.choices or label in taken:
                what = "other choices" if choices != asked.choices else "the same answer"
                problem = f"group {asked.group!r} already has a question with {what}"
                hint = "Give it a group of its own, or none"
                raise DataError.at(path, number, problem, hint=hint)
            taken.add(label)
        examples.append(ChoiceExample(asked, label))
    refuse_no_examples(len(examples), path)
    return examples


def _checked_label(label: Any, choices: tuple[str, ...], path: Path, line: int) -> int:
    if isinstance(label, str):
        if choices.count(label) > 1:
            problem = f'"label" is {label!r:.80}, which stands among the choices more than once'
            raise DataError.at(path, line, problem, hint="Write its number, from 0")
        if label in choices:
            return choices.index(label)
        is_place = label.isascii() and label.isdecimal() and len(label) < 9
        label = int(label) if is_place else label
    if type(label) is not int or not 0 <= label < len(choices):
        problem = f'"label" must be from 0 to {len(choices) - 1}, or a choice, found {label!r:.80}'
        raise DataError.at(path, line, problem)
    return label
