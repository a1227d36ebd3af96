"""The predictor of a word segmenter: the words of each text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel

from zh_albert.tasks.predictor import RequestForm, TaskPredictor
from zh_albert.tasks.segmentation.segmenter import TextSegmenter
from zh_albert.tasks.tagging.merging import EncodedPassage


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text; ``text == whole_text[start:end]``, always.

    Attributes:
        start: Index of its first character, in code points.
        end: Index after its last character.
        text: The slice of the user's own string.
    """

    start: int
    end: int
    text: str


class Words(BaseModel):
    """The words of one text; the n-th of ``words`` is ``text[start:end]`` of the n-th span."""

    words: list[str]
    spans: list[tuple[int, int]]


class Segmenter(TaskPredictor[str, EncodedPassage, list[Word]]):
    """Predictor: texts → lists of ``Word``; every character but white space is in exactly one."""

    kind = "word segmenter"
    unanswered: ClassVar[Mapping[str, Any]] = {"words": [], "spans": []}
    row_type = Words
    form = RequestForm(example="他从马上下来")

    _model: TextSegmenter

    def answers(
        self, contents: Sequence[str], encoded: Sequence[EncodedPassage]
    ) -> list[list[Word]]:
        """See ``Predictor``."""
        found = self._model.words_in(contents, encoded)
        return [
            [Word(start, end, text[start:end]) for start, end in spans]
            for text, spans in zip(contents, found, strict=True)
        ]

    def row(self, answer: list[Word]) -> dict[str, Any]:
        """See ``Predictor``."""
        spans = [(word.start, word.end) for word in answer]
        return {"words": [word.text for word in answer], "spans": spans}
