"""The predictor of a multiple-choice model: one choice for each question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, FailFast, Field

from zh_albert.errors import DataError
from zh_albert.tasks.choice.assignment import choose
from zh_albert.tasks.choice.chooser import TextChooser
from zh_albert.tasks.choice.examples import Question, question_of
from zh_albert.tasks.chunks import as_list
from zh_albert.tasks.predictor import RequestForm, TaskPredictor, Text
from zh_albert.tasks.windows import EncodedText


@dataclass(frozen=True, slots=True)
class Choice:
    """The answer to one question; ``text == choices[index]``, always.

    Attributes:
        index: Index of the chosen one, from 0.
        text: The choice itself.
        score: Its probability among this question's choices.
        scores: Every choice's probability, in the order of the choices; they sum to 1.
    """

    index: int
    text: str
    score: float
    scores: list[float]


class ChoiceItem(BaseModel):
    """A question with at least two choices, in a request; a group takes no choice twice."""

    context: Text
    question: Text
    choices: Annotated[list[Text], Field(min_length=2), FailFast()]
    group: Text | None = None

    def content(self) -> Question:
        """Return the model's input."""
        return Question(self.context, self.question, tuple(self.choices), self.group)


class Chooser(TaskPredictor[Question, list[EncodedText], Choice]):
    """Predictor: questions → ``Choice``; questions of a group must be consecutive."""

    kind = "multiple choice"
    unanswered: ClassVar[Mapping[str, Any]] = {
        "index": None,
        "text": None,
        "score": None,
        "scores": [],
    }
    noun = "question"
    chunk_size = 512
    reads_plain_lines = False
    row_type = Choice
    form = RequestForm(
        "Choices",
        ChoiceItem,
        {"context": "今天下雨。", "question": "天气怎样？", "choices": ["晴", "雨"]},
        Question("", "", ()),
    )

    _model: TextChooser

    def __call__(self, contents: Iterable[Question | Sequence[Any]]) -> list[Choice]:
        """Answer questions: ``(context, question, choices)``, or also ``group``; see ``Question``.

        Raises:
            DataError: If a question has another form, fewer than two choices or an empty context
                (its index is named).
        """
        questions: list[Any] = as_list(contents)
        return self._all(questions)

    def answers(
        self, contents: Sequence[Question], encoded: Sequence[list[EncodedText]]
    ) -> list[Choice]:
        """See ``Predictor``."""
        probabilities = self._model.probabilities_of(encoded)
        chosen = choose(contents, probabilities)
        answers = []
        for question, index, row in zip(contents, chosen, probabilities, strict=True):
            scores = [round(float(score), 6) for score in row]
            answers.append(Choice(index, question.choices[index], scores[index], scores))
        return answers

    def content_of(self, row: dict[str, Any], source: Path | str, line: int) -> Question:
        """See ``Predictor``."""
        return question_of(row, source, line)

    def characters(self, content: Question) -> int:
        """See ``Predictor``; each choice is read with the whole question."""
        whole = len(content.context) + len(content.question)
        return len(content.choices) * whole + sum(map(len, content.choices))

    def as_one_request(self, contents: Sequence[Question], request: int) -> list[Question] | None:
        """See ``Predictor``; groups of different requests are kept apart."""
        if all(question.group is None for question in contents):
            return None
        return [
            one if one.group is None else one._replace(group=f"{request} {one.group}")
            for one in contents
        ]

    def _chunks(self, contents: Iterable[Question]) -> Iterator[list[Question]]:
        """Cut a stream into chunks, as ``chunks`` does; a group is never cut."""
        chunk: list[Question] = []
        try:
            for index, content in enumerate(contents):
                question = _as_question(content, index)
                full = len(chunk) >= self.chunk_size
                if full and (question.group is None or question.group != chunk[-1].group):
                    yield chunk
                    chunk = []
                chunk.append(question)
        except Exception:  # of whatever kind the caller's stream raises
            if chunk:
                yield chunk
            raise
        if chunk:
            yield chunk


def _as_question(question: Any, index: int) -> Question:
    match question:
        case [str(context), str(asked), list() | tuple() as choices, *group] if all(
            isinstance(choice, str) for choice in choices
        ) and (not group or (len(group) == 1 and isinstance(group[0], str | None))):
            if len(choices) == 1:  # none: a blank line has none
                found = f"expected two choices or more, found {list(choices)}"
                raise DataError(f"questions[{index}]: {found}")
            return Question(context, asked, tuple(choices), *group)
        case _:
            raise DataError(
                f"questions[{index}]: expected (context, question, choices), strings and a list "
                f"of strings, found {question!r:.80}"
            )
