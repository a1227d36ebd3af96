"""The predictor of a reader: the passage of a context that answers a question."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, overload

from pydantic import BaseModel

from zh_albert.errors import DataError
from zh_albert.tasks.chunks import as_count, as_list
from zh_albert.tasks.predictor import RequestForm, TaskPredictor, Text
from zh_albert.tasks.reading.examples import AnswerSpan, question_of
from zh_albert.tasks.reading.questions import EncodedQuestion
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.tasks.texts import refuse_non_strings

_Several = list[str] | tuple[str, ...]  # a sequence of strings, not a string


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer; ``text == context[start:end]``, always. No answer is an empty one at 0.

    Attributes:
        start: Index of its first character in the context, in code points.
        end: Index after its last character.
        text: The slice of the user's own string; empty: the context gives no answer.
        score: Its probability among all answers, including "no answer" if the model can predict it.
    """

    start: int
    end: int
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class RankedAnswers(Answer):
    """A row: the best answer, and with ``top_k`` all of them, best first."""

    answers: list[Answer] | None = None


class QuestionItem(BaseModel):
    """A question and the text that may answer it, in a request."""

    question: Text
    context: Text

    def content(self) -> tuple[str, str]:
        """Return the model's input."""
        return self.question, self.context


class Reader(TaskPredictor[tuple[str, str], EncodedQuestion, Answer]):
    """Predictor: questions and contexts → ``Answer``.

    A model trained on unanswerable questions may predict no answer; others always answer. An empty
    context has no answer.

    Attributes:
        predicts_no_answer: Whether the model may predict no answer.
    """

    kind = "reader"
    unanswered: ClassVar[Mapping[str, Any]] = {
        "start": None,
        "end": None,
        "text": None,
        "score": None,
    }
    noun = "question"
    chunk_size = 512
    ranks = True
    row_type = RankedAnswers
    form = RequestForm(
        "Questions",
        QuestionItem,
        {"question": "李华去了哪里？", "context": "李华昨天去了杭州。"},
        ("", ""),
    )

    _model: TextReader

    def __init__(self, reader: TextReader) -> None:
        super().__init__(reader)
        self.predicts_no_answer = reader.threshold is not None

    def answers(
        self,
        contents: Sequence[tuple[str, str]],
        encoded: Sequence[EncodedQuestion],
        *,
        top_k: int | None = None,
    ) -> list[Any]:
        """See ``Predictor``; with ``top_k`` a list of answers for each question."""
        wanted = 1 if top_k is None else as_count(top_k, "top_k")
        readings = self._model.read(encoded, keep=wanted)
        ranked = [
            as_answers(context, reading.answers(self._model.threshold)[:wanted])
            for (_, context), reading in zip(contents, readings, strict=True)
        ]
        return [answers[0] for answers in ranked] if top_k is None else ranked

    def row(self, answer: Answer | list[Answer]) -> dict[str, Any]:
        """See ``Predictor``; of several answers the best and all of them."""
        if isinstance(answer, Answer):
            return dataclasses.asdict(answer)
        ranked = [dataclasses.asdict(one) for one in answer]
        return {**ranked[0], "answers": ranked}

    def content_of(self, row: dict[str, Any], source: Path | str, line: int) -> tuple[str, str]:
        """See ``Predictor``."""
        return question_of(row, source, line)

    @overload  # type: ignore[override]
    def __call__(self, question: str, context: str, *, top_k: None = None) -> Answer: ...
    @overload
    def __call__(self, question: str, context: str, *, top_k: int) -> list[Answer]: ...
    @overload
    def __call__(
        self, question: _Several, context: str | _Several, *, top_k: None = None
    ) -> list[Answer]: ...
    @overload
    def __call__(
        self, question: _Several, context: str | _Several, *, top_k: int
    ) -> list[list[Answer]]: ...
    def __call__(
        self,
        question: str | _Several,
        context: str | _Several,
        *,
        top_k: int | None = None,
    ) -> Answer | list[Answer] | list[list[Answer]]:
        """Answer a question by a passage of a context.

        Args:
            question: One, or several.
            context: The text to read; for several questions one each, or one for all of them.
            top_k: Return a list of up to this many answers, best first.

        Returns:
            The answer; for several questions a list, in order.

        Raises:
            DataError: If something is not a string, a question is empty (its index is named), the
                numbers of questions and contexts differ, or ``top_k`` is not a positive integer.
        """
        alone = isinstance(question, str)
        questions, contexts = as_list(question, "question"), as_list(context, "context")
        if isinstance(context, str):
            contexts *= len(questions)
        if len(questions) != len(contexts) or (alone and not isinstance(context, str)):
            raise DataError(
                "expected a context for each question, or one string for all of them (a string as "
                f"question goes with a string as context), found {len(questions)} questions and "
                f"{len(contexts)} contexts"
            )
        refuse_non_strings(questions, name="questions")
        refuse_non_strings(contexts, name="contexts")
        pairs = list(zip(questions, contexts, strict=True))
        result: list[Any] = self._all(pairs, top_k=top_k)
        return result[0] if alone else result

    @overload
    def stream(
        self, contents: Iterable[tuple[str, str]], *, top_k: None = None
    ) -> Iterator[Answer | DataError]: ...
    @overload
    def stream(
        self, contents: Iterable[tuple[str, str]], *, top_k: int
    ) -> Iterator[list[Answer] | DataError]: ...
    def stream(
        self, contents: Iterable[tuple[str, str]], *, top_k: int | None = None
    ) -> Iterator[Answer | list[Answer] | DataError]:
        """Answer any number of questions, each with its context; see ``Predictor.stream``.

        Args:
            contents: Questions and their contexts.
            top_k: Yield lists of up to this many answers, best first.
        """
        return self._stream(contents, top_k=None if top_k is None else as_count(top_k, "top_k"))


def as_answers(context: str, spans: Iterable[tuple[AnswerSpan, float]]) -> list[Answer]:
    """Return predicted spans of a context with their slices of it."""
    return [
        Answer(start, end, context[start:end], round(score, 6)) for (start, end), score in spans
    ]
