"""Texts with their entities, and their task files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import index
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from zh_albert.errors import DataError
from zh_albert.tables.columns import BY_NAMES, TableLayout
from zh_albert.tables.task_rows import read_task_rows
from zh_albert.tasks.fields import (
    checked_name,
    checked_text,
    label_name,
    refuse_missing_fields,
    refuse_no_examples,
)

_FORM = '{"text": …, "entities": [{"start": …, "end": …, "type": …}]}'


class EntitySpan(NamedTuple):
    """One entity: characters ``start`` to ``end`` of its text, end not included, and its type."""

    start: int
    end: int
    type: str


@dataclass(frozen=True, slots=True)
class EntityExample:
    """One text with its entities.

    Attributes:
        text: As read; never empty.
        entities: Sorted, each one once; they may overlap.
        place: File and line, for errors; empty if it is not from a file.
    """

    text: str
    entities: tuple[EntitySpan, ...]
    place: str = field(default="", compare=False)


def read_entity_examples(path: Path, layout: TableLayout = BY_NAMES) -> list[EntityExample]:
    """Read an entity file of the task format, ``{"text", "entities"}`` a line.

    Raises:
        DataError: With file and line: broken JSON, a missing or wrong field, an empty text, an
            entity outside its text or with white space at an edge; or an empty file.
    """
    examples = []
    for number, row in read_task_rows(path, layout):
        refuse_missing_fields(row, ("text", "entities"), path, number, form=_FORM)
        text = checked_text(row, "text", path, number)
        if not isinstance(row["entities"], list):
            problem = f'"entities" must be a list, found {row["entities"]!r:.80}'
            raise DataError.at(path, number, problem, hint=f"Each line is {_FORM}")
        entities = [_read_entity(entity, text, path, number) for entity in row["entities"]]
        place = f"{path}, line {number}"
        examples.append(EntityExample(text, tuple(sorted(set(entities))), place))
    refuse_no_examples(len(examples), path)
    return examples


def read_unlabelled_texts(path: Path, layout: TableLayout = BY_NAMES) -> list[EntityExample]:
    """Read a file of texts, ``{"text"}`` a line; entities, if any, are ignored.

    Returns:
        Examples without entities.

    Raises:
        DataError: With file and line: broken JSON, a missing or wrong field, an empty text; or an
            empty file.
    """
    examples = []
    for number, row in read_task_rows(path, layout):
        refuse_missing_fields(row, ("text",), path, number, form='{"text": …}')
        examples.append(EntityExample(checked_text(row, "text", path, number), ()))
    refuse_no_examples(len(examples), path)
    return examples


def problem_with(entity: EntitySpan, text: str) -> str:
    """Return the problem with an entity's position in a text; empty if there is none."""
    start, end, _ = entity
    if not 0 <= start < end <= len(text):
        return f"entity {start}–{end} lies outside the text of {len(text)} characters"
    found = text[start:end]
    if found != found.strip():
        return f"entity {start}–{end} is {found!r:.80}, with white space at an edge"
    return ""


def type_names(examples: Iterable[EntityExample]) -> list[str]:
    """Return the types that occur, sorted.

    Raises:
        DataError: If there are no entities to train on.
    """
    types = sorted({entity.type for example in examples for entity in example.entities})
    if not types:
        raise DataError("expected texts with entities, found none in all of the training texts")
    return types


def types_in(examples: Iterable[EntityExample]) -> Iterable[tuple[str, str]]:
    """Yield the type of every entity, with the place of its text."""
    return ((entity.type, e.place) for e in examples for entity in e.entities)


def _read_entity(entity: Any, text: str, path: Path, line: int) -> EntitySpan:
    if not isinstance(entity, dict):
        raise DataError.at(path, line, f"an entity must be an object, found {entity!r:.80}")
    refuse_missing_fields(entity, ("start", "end", "type"), path, line, form=_FORM)
    for name in ("start", "end"):
        if type(entity[name]) is not int:
            problem = f'"{name}" must be a whole number, found {entity[name]!r:.80}'
            raise DataError.at(path, line, problem)
    name = checked_name(entity["type"], "type", path, line)
    span = EntitySpan(entity["start"], entity["end"], name)
    problem = problem_with(span, text)
    if not problem and entity.get("text", (found := text[span.start : span.end])) != found:
        problem = (
            f"entity {span.start}–{span.end} is {found!r:.80}, but says {entity['text']!r:.80}"
        )
    if problem:
        hint = "Offsets count characters (code points) from 0, the end is not included"
        raise DataError.at(path, line, problem, hint=hint)
    return span


def as_spans(entities: Sequence[Any] | None, text: str, where: str) -> tuple[EntitySpan, ...]:
    """Return the entities that a caller passes for one text, sorted and without duplicates.

    Args:
        entities: Each a mapping or an object with ``start``, ``end`` and ``type``, or a triple.
            None: there are none.
        text: The text.
        where: Their source, named in errors.

    Raises:
        DataError: If one is none of these, or does not lie in the text.
    """
    spans = []
    if isinstance(entities, str) or not isinstance(entities, Iterable | None):
        raise DataError(f"{where}: expected a list of entities, found {entities!r:.80}")
    for entity in () if entities is None else entities:
        try:
            match entity.tolist() if isinstance(entity, np.ndarray) else entity:
                case {"start": start, "end": end, "type": name} | (start, end, name):
                    pass
                case _:
                    start, end, name = entity.start, entity.end, entity.type
            start, end = _position(start), _position(end)
        except (AttributeError, TypeError, ValueError):
            raise DataError(
                f"{where}: expected an entity as (start, end, type) or with these fields, found "
                f"{entity!r:.80}"
            ) from None
        name = label_name(name) if isinstance(name, str) else name
        if not (isinstance(name, str) and name and name.isprintable()):
            raise DataError(
                f"{where}: expected a type that is a string and can be printed, found {name!r:.80}"
            )
        span = EntitySpan(start, end, name)
        if problem := problem_with(span, text):
            raise DataError(f"{where}: {problem}")
        spans.append(span)
    return tuple(sorted(set(spans)))


def _position(given: Any) -> int:
    """Return an integer; also from a string, since arrays with type names hold only strings."""
    return int(given) if isinstance(given, str) else index(given)
