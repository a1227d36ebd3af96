"""A trained multiple-choice model answering: typed results, a stream in constant memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from zh_albert.errors import DataError
from zh_albert.runtimes.exported import RuntimeSettings, with_runtimes
from zh_albert.tasks.choice.assignment import choose
from zh_albert.tasks.choice.chooser import NO_CONTENT, TextChooser
from zh_albert.tasks.choice.examples import Question, question_of
from zh_albert.tasks.chunks import as_list

_POOL = 512  # questions sorted together by length: bounds memory and the wait for the first result


@dataclass(frozen=True, slots=True)
class Choice:
    """The answer to one question; ``text == choices[index]``, always.

    Attributes:
        index: Which choice, from 0.
        text: The choice itself.
        score: Its probability among this question's choices.
        scores: Every choice's probability, in the order of the choices; they sum to 1.
    """

    index: int
    text: str
    score: float
    scores: list[float]


class Chooser:
    """Questions → ``Choice``; what ``zh_albert.load`` returns for a multiple-choice model.

    Attributes:
        content_of: A row of a task file → what the model reads of it.
        blank: What a blank line is read as.
        metadata: What the model card and ``zh-albert models`` tell: data, scores.
    """

    content_of = staticmethod(question_of)
    blank = Question("", "", ())

    def __init__(self, chooser: TextChooser) -> None:
        self._chooser = chooser
        self.metadata = chooser.metadata

    @classmethod
    def load(cls, folder: Path, **how: Unpack[RuntimeSettings]) -> Chooser:
        """Open a model folder; see ``zh_albert.load`` for what runs it.

        Raises:
            CheckpointError: If it is none, or a model for something else.
        """
        return cls(with_runtimes(TextChooser.load(folder), folder, **how))

    def __call__(self, questions: Iterable[Question | Sequence[Any]]) -> list[Choice]:
        """Answer questions: ``(context, question, choices)``, or also ``group``; see ``Question``.

        Raises:
            DataError: If a question has another form, fewer than two choices or an empty context
                (its index is named).
        """
        asked = [_checked(question, index) for index, question in enumerate(as_list(questions))]
        return self._answers(asked, self._chooser.probabilities(asked))

    def stream(self, questions: Iterable[Question]) -> Iterator[Choice | DataError]:
        """Answer any number of questions in constant memory, in order.

        A question without content yields its error in its place. Questions of one group stand one
        after the other.
        """
        for pool in _pools(questions):
            encoded = self._chooser.encode_or_none(pool)
            found = self._chooser.probabilities_of([one for one in encoded if one is not None])
            there = [question for question, e in zip(pool, encoded, strict=True) if e is not None]
            answers = iter(self._answers(there, found))
            for one in encoded:
                yield DataError(f"the question {NO_CONTENT}") if one is None else next(answers)

    def _answers(
        self, questions: Sequence[Question], probabilities: Sequence[NDArray[np.float32]]
    ) -> list[Choice]:
        answers = []
        chosen = choose(questions, probabilities)
        for question, index, row in zip(questions, chosen, probabilities, strict=True):
            scores = [round(float(score), 6) for score in row]
            answers.append(Choice(index, question.choices[index], scores[index], scores))
        return answers


def _pools(questions: Iterable[Question]) -> Iterator[list[Question]]:
    """Cut a stream into pools; a group is never cut."""
    pool: list[Question] = []
    for question in questions:
        if len(pool) >= _POOL and (question.group is None or question.group != pool[-1].group):
            yield pool
            pool = []
        pool.append(question)
    if pool:
        yield pool


def _checked(question: Any, index: int) -> Question:
    match question:
        case [str(context), str(asked), list() | tuple() as choices, *group] if all(
            isinstance(choice, str) for choice in choices
        ) and (not group or (len(group) == 1 and isinstance(group[0], str | None))):
            made = Question(context, asked, tuple(choices), *group)
        case _:
            raise DataError(
                f"questions[{index}]: expected (context, question, choices), strings and a list "
                f"of strings, found {question!r:.80}"
            )
    if len(made.choices) < 2:
        raise DataError(f"questions[{index}]: expected two choices or more, found {list(choices)}")
    return made
