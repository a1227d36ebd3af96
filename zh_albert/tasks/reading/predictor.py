"""A trained reader answering: typed answers, a stream in constant memory, order kept."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack, overload

from zh_albert.errors import DataError
from zh_albert.runtimes.exported import RuntimeSettings, with_runtimes
from zh_albert.tasks.chunks import as_count, as_list, pools
from zh_albert.tasks.reading.examples import AnswerSpan, question_of
from zh_albert.tasks.reading.reader import NO_QUESTION, TextReader
from zh_albert.tasks.texts import refuse_non_pairs

_Several = list[str] | tuple[str, ...]  # a sequence of strings that is no string itself
_POOL = 512  # questions sorted together by length: bounds memory and the wait for the first result


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer; ``text == context[start:end]``, always. No answer is an empty one at 0.

    Attributes:
        start: Its first character in the context, counted in code points.
        end: Behind its last character.
        text: The slice of the user's own string; empty: the context gives no answer.
        score: Its probability among all answers, "none" counted where the model may decline.
    """

    start: int
    end: int
    text: str
    score: float


class Reader:
    """Questions and contexts → ``Answer``; what ``zh_albert.load`` returns for a reader's folder.

    A model that was taught unanswerable questions may predict no answer; another one always
    answers. An empty context has no answer.

    Attributes:
        content_of: A row of a task file → the question and the context.
        blank: What a blank line is read as.
        metadata: What the model card and ``zh-albert models`` tell: data, scores.
        predicts_no_answer: Whether it was taught that a text may have no answer.
    """

    blank = ("", "")
    content_of = staticmethod(question_of)

    def __init__(self, reader: TextReader) -> None:
        self._reader = reader
        self.metadata, self.predicts_no_answer = reader.metadata, reader.threshold is not None

    @classmethod
    def load(cls, folder: Path, **how: Unpack[RuntimeSettings]) -> Reader:
        """Open a model folder; see ``zh_albert.load`` for what runs it.

        Raises:
            CheckpointError: If it is none, or a model for something else.
            MissingExtraError: If it reads traditional characters and OpenCC is not installed.
        """
        return cls(with_runtimes(TextReader.load(folder), folder, **how))

    @overload
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
            top_k: Return a list of so many answers, best first; there can be fewer.

        Returns:
            The answer; for several questions a list, in order.

        Raises:
            DataError: If something is not a string, a question is empty (its index is named), the
                numbers of questions and contexts differ, or ``top_k`` is no number from 1 on.
        """
        wanted = 1 if top_k is None else as_count(top_k, "top_k")
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
        pairs = list(zip(questions, contexts, strict=True))
        ranked = [
            as_answers(text, spans)
            for text, spans in zip(contexts, self._reader.predict(pairs, top_k=wanted), strict=True)
        ]
        result = [answers[0] for answers in ranked] if top_k is None else ranked
        return result[0] if alone else result

    @overload
    def stream(
        self, pairs: Iterable[tuple[str, str]], *, top_k: None = None
    ) -> Iterator[Answer | DataError]: ...
    @overload
    def stream(
        self, pairs: Iterable[tuple[str, str]], *, top_k: int
    ) -> Iterator[list[Answer] | DataError]: ...
    def stream(
        self, pairs: Iterable[tuple[str, str]], *, top_k: int | None = None
    ) -> Iterator[Answer | list[Answer] | DataError]:
        """Answer any number of questions, each with its context, in constant memory, in order.

        A question that is empty yields its error in its place, so that one bad line does not stop
        a long file.

        Args:
            pairs: Questions and their contexts.
            top_k: Yield lists of so many answers, best first; there can be fewer.

        Raises:
            DataError: If an element is not two strings, or ``top_k`` is no number from 1 on.
        """
        wanted = 1 if top_k is None else as_count(top_k, "top_k")
        for pool in pools(pairs, _POOL):
            refuse_non_pairs(pool)
            can_be_read = [self._reader.has_tokens(question) for question, _ in pool]
            read = list(itertools.compress(pool, can_be_read))
            ranked = iter(self._reader.predict(read, top_k=wanted))
            for (_, context), readable in zip(pool, can_be_read, strict=True):
                if readable:
                    answers = as_answers(context, next(ranked))
                    yield answers[0] if top_k is None else answers
                else:
                    yield DataError(f"the question {NO_QUESTION}")


def as_answers(context: str, spans: Iterable[tuple[AnswerSpan, float]]) -> list[Answer]:
    """Return predicted spans of a context with their slices of it."""
    return [
        Answer(start, end, context[start:end], round(score, 6)) for (start, end), score in spans
    ]
