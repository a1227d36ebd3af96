"""The answers of the reading tab."""

from __future__ import annotations

from collections.abc import Sequence

from apps.i18n.notice import Notice
from apps.tabs.reading.panels import reading_panel
from apps.tabs.reading.strings import ReadingStrings
from apps.text_answers import QuestionAnswers, timed
from zh_albert.tasks.reading.predictor import Reader
from zh_albert.tasks.texts import has_content

_SHOWN = 5  # answers of the table


class ReadingAnswers(QuestionAnswers[ReadingStrings]):
    """The panels with the answer to a question, the first text, in a passage, the second one.

    Args:
        strings: The tab's strings.
        reader: The model.
    """

    def __init__(self, strings: ReadingStrings, reader: Reader) -> None:
        super().__init__(strings)
        self._reader = reader

    def problem(self, texts: Sequence[str]) -> Notice | None:
        """Return a notice where the question or the passage is missing, or cannot be read."""
        question, passage = texts
        if not question.strip():
            return self.strings.no_question
        if not passage.strip():
            return self.strings.no_passage
        return None if has_content(passage) else self.strings.page.unreadable

    def panel(self, texts: Sequence[str], chosen: str) -> str:  # noqa: ARG002
        """Return the best answer, its place in the passage, and the other candidates."""
        question, passage = texts
        answers, seconds = timed(self._reader, question, passage, top_k=_SHOWN)
        may_decline = self._reader.predicts_no_answer
        return reading_panel(
            self.strings, question, passage, answers, seconds, predicts_no_answer=may_decline
        )
