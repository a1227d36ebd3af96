"""Questions about texts with their answers, and their task files."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Any, NamedTuple, SupportsIndex

from zh_albert.errors import DataError
from zh_albert.tables.columns import BY_NAMES, TableLayout
from zh_albert.tables.task_rows import read_task_rows
from zh_albert.tasks.fields import (
    checked_string,
    checked_text,
    refuse_missing_fields,
    refuse_no_examples,
)

_FORM = '{"context": …, "question": …, "answers": [{"text": …, "start": …}]}'


class AnswerSpan(NamedTuple):
    """An answer's span: characters ``start`` to ``end`` of its context, end not included."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ReadingExample:
    """One question about a text.

    Attributes:
        context: The text to read; never empty.
        question: Never empty.
        answers: Spans of the accepted answers, sorted; any of them is right.
        references: Texts of the accepted answers, for scoring; more than ``answers`` if some do not
            occur verbatim in the context. Empty: the text does not answer the question.
    """

    context: str
    question: str
    answers: tuple[AnswerSpan, ...]
    references: tuple[str, ...]

    @property
    def text(self) -> str:
        """The context, by which training texts that occur in dev are found."""
        return self.context


def read_reading_examples(path: Path, layout: TableLayout = BY_NAMES) -> list[ReadingExample]:
    """Read a reading-comprehension file of the task format, a question a line.

    ``{"context", "question", "answers": [{"text", "start"}]}``; no answers: the context has none.
    ``reference_texts``, if given, are all texts that count as right.

    Raises:
        DataError: With file and line: broken JSON, a missing or wrong field, an empty context,
            question or answer, an answer that does not occur at its ``start``; or an empty file.
    """
    examples = []
    for number, row in read_task_rows(path, layout):
        refuse_missing_fields(row, ("context", "question", "answers"), path, number, form=_FORM)
        context = checked_text(row, "context", path, number)
        question = checked_text(row, "question", path, number)
        answers = [
            _read_answer(answer, context, path, number)
            for answer in _list(row, "answers", path, number)
        ]
        texts = [context[start:end] for start, end in answers]
        if row.get("reference_texts") is not None:
            texts = _list(row, "reference_texts", path, number)
            if not all(isinstance(text, str) and text.strip() for text in texts):
                problem = (
                    f'"reference_texts" must be texts, none of them empty, found {texts!r:.80}'
                )
                raise DataError.at(path, number, problem)
            if answers and not texts:
                hint = "Leave it out, or give every text that counts as right"
                raise DataError.at(path, number, '"reference_texts" is empty', hint=hint)
        examples.append(
            ReadingExample(
                context, question, tuple(sorted(set(answers))), tuple(dict.fromkeys(texts))
            )
        )
    refuse_no_examples(len(examples), path)
    return examples


def question_of(row: dict[str, Any], source: Path | str, line: int) -> tuple[str, str]:
    """Return the input of a reader from a row: question and context; both may be empty.

    Raises:
        DataError: If one is missing, or not a string.
    """
    fields = ("question", "context")
    refuse_missing_fields(row, fields, source, line, form='{"question": …, "context": …}')
    question, context = (checked_string(row, name, source, line) for name in fields)
    return question, context


def problem_with(text: str, start: int, context: str) -> str:
    """Return the problem with an answer that does not occur at ``start``, else an empty string."""
    found = context[start : start + len(text)] if start >= 0 else ""
    if found == text:
        return ""
    places = [str(place) for place in itertools.islice(places_of(text, context), 3)]
    elsewhere = f"it stands at {', '.join(places)}" if places else "it is nowhere in the context"
    return f"the answer {text!r:.80} does not stand at {start}: {found!r:.80} does; {elsewhere}"


def places_of(text: str, context: str) -> list[int]:
    """Return the indices at which a text occurs in another, overlapping ones included.

    >>> places_of("aa", "aaab")
    [0, 1]
    """
    places, place = [], context.find(text)
    while place >= 0:
        places.append(place)
        place = context.find(text, place + 1)
    return places


def as_spans(answers: Any, context: str, where: str) -> tuple[AnswerSpan, ...]:
    """Return the answers that a caller passes for one question, sorted and without duplicates.

    Args:
        answers: None or empty: no answer. A text: every occurrence in the context. A pair (start,
            text), or a mapping or object with these names. Or a list of such.
        context: The context.
        where: Their source, named in errors.

    Raises:
        DataError: If one is none of these, or does not occur in the context.
    """
    spans: set[AnswerSpan] = set()
    for answer in answers if isinstance(answers, list) else [answers]:
        match answer:
            case None | "":
                continue
            case str(text):
                starts = places_of(text, context)
            case (
                {"start": SupportsIndex() as start, "text": str(text)}
                | (SupportsIndex() as start, str(text))
                | object(start=SupportsIndex() as start, text=str(text))
            ):
                starts = [index(start)]
            case _:
                raise DataError(
                    f"{where}: expected a text, (start, text) or an object with these names, "
                    f"found {answer!r:.80}"
                )
        if not starts:
            raise DataError(f"{where}: {text!r:.80} is nowhere in the context")
        for start in starts:
            if problem := problem_with(text, start, context):
                raise DataError(f"{where}: {problem}")
            if text:
                spans.add(AnswerSpan(start, start + len(text)))
    return tuple(sorted(spans))


def _list(row: dict[str, Any], name: str, path: Path, line: int) -> list[Any]:
    values = row[name]
    if not isinstance(values, list):
        problem = f'"{name}" must be a list, found {values!r:.80}'
        raise DataError.at(path, line, problem, hint=f"Each line is {_FORM}")
    return values


def _read_answer(answer: Any, context: str, path: Path, line: int) -> AnswerSpan:
    if not isinstance(answer, dict):
        raise DataError.at(path, line, f"an answer must be an object, found {answer!r:.80}")
    refuse_missing_fields(answer, ("text", "start"), path, line, form=_FORM)
    text, start = answer["text"], answer["start"]
    if not isinstance(text, str) or not text.strip():
        problem = f'an answer\'s "text" must be a text that is not empty, found {text!r:.80}'
        raise DataError.at(path, line, problem, hint='No answer at all is "answers": []')
    if type(start) is not int:
        raise DataError.at(path, line, f'"start" must be a whole number, found {start!r:.80}')
    if problem := problem_with(text, start, context):
        hint = (
            "Offsets count characters (code points) from 0; texts that only count in scores "
            'belong under "reference_texts"'
        )
        raise DataError.at(path, line, problem, hint=hint)
    return AnswerSpan(start, start + len(text))
