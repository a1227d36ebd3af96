"""Questions about texts with their answers as they stand in task files."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Any, NamedTuple, SupportsIndex

from zh_albert.errors import DataError
from zh_albert.tasks.fields import (
    checked_string,
    checked_text,
    refuse_missing_fields,
    refuse_no_examples,
)
from zh_albert.textio import read_objects

_FORM = '{"context": …, "question": …, "answers": [{"text": …, "start": …}]}'


class AnswerSpan(NamedTuple):
    """An answer's place: characters ``start`` to ``end`` of its context, end not included."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ReadingExample:
    """One question about a text.

    Attributes:
        context: The text to read; never empty.
        question: Never empty.
        answers: Where the accepted answers stand, sorted; each is enough.
        references: The accepted answers as texts, for scoring; more than ``answers`` where some
            are not in the context word for word. Empty: the text does not answer the question.
    """

    context: str
    question: str
    answers: tuple[AnswerSpan, ...]
    references: tuple[str, ...]

    @property
    def text(self) -> str:
        """The context: a training text that also occurs in dev is found by it."""
        return self.context


def read_reading_examples(path: Path) -> list[ReadingExample]:
    """Read a reading-comprehension file of the task format, a question a line.

    ``{"context", "question", "answers": [{"text", "start"}]}``; no answers: the context has none.
    ``reference_texts``, if there, are all texts that count as right.

    Raises:
        DataError: With file and line: broken JSON, a missing or wrong field, an empty context,
            question or answer, an answer that does not stand where it says; or an empty file.
    """
    examples = []
    for number, row in read_objects(path):
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
    """Return what a reader reads of a row: the question and the context; both may be empty.

    Raises:
        DataError: If one is missing, or no string.
    """
    fields = ("question", "context")
    refuse_missing_fields(row, fields, source, line, form='{"question": …, "context": …}')
    question, context = (checked_string(row, name, source, line) for name in fields)
    return question, context


def problem_with(text: str, start: int, context: str) -> str:
    """Return why an answer does not stand at ``start``, and where it does; empty if it does."""
    found = context[start : start + len(text)] if start >= 0 else ""
    if found == text:
        return ""
    places = [str(place) for place in itertools.islice(places_of(text, context), 3)]
    elsewhere = f"it stands at {', '.join(places)}" if places else "it is nowhere in the context"
    return f"the answer {text!r:.80} does not stand at {start}: {found!r:.80} does; {elsewhere}"


def places_of(text: str, context: str) -> list[int]:
    """Return where a text stands in another, overlapping places included.

    >>> places_of("aa", "aaab")
    [0, 1]
    """
    places, place = [], context.find(text)
    while place >= 0:
        places.append(place)
        place = context.find(text, place + 1)
    return places


def as_spans(answers: Any, context: str, where: str) -> tuple[AnswerSpan, ...]:
    """Return the answers a caller hands in for one question, sorted, each one once.

    Args:
        answers: None or empty: there is none. A text: wherever the context has it. A pair
            (start, text), or a mapping or an object with these names. Or a list of such.
        context: Where they stand.
        where: Named in errors.

    Raises:
        DataError: If one is none of these, or does not stand in the context.
    """
    spans: set[AnswerSpan] = set()
    for answer in answers if isinstance(answers, list) else [answers]:
        match answer:
            case None | "":
                continue
            case str(text):
                starts = places_of(text, context)
            case {"start": SupportsIndex() as start, "text": str(text)} | (
                SupportsIndex() as start,
                str(text),
            ):
                starts = [index(start)]
            case _ if isinstance(getattr(answer, "text", None), str):
                text, starts = answer.text, [int(answer.start)]
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
