"""The answers of a tab to the texts in its boxes: what all such tabs have in common; no Gradio."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from apps.i18n.notice import Notice
from apps.i18n.page import PageStrings
from apps.i18n.tabs import TextTabStrings
from apps.markup.text import notice
from apps.markup.unknown_signs import unknown_signs
from zh_albert.errors import DataError, ZhAlbertError
from zh_albert.tokenization.tokenizer import default_tokenizer

MAX_CHARACTERS = 100_000
LIVE_CHARACTERS = 1_000  # up to here answers keep up with the typing
FAILURES = (ZhAlbertError, RuntimeError, MemoryError)

S = TypeVar("S", bound=TextTabStrings)
T = TypeVar("T")


class TextAnswers(ABC, Generic[S]):
    """The panels that a tab shows while somebody types, and when its button is pressed.

    Its methods get the values of the tab's boxes: the texts, then the chosen model if there is a
    choice.

    Attributes:
        strings: The tab's strings.
        text_count: The number of boxes with a text.
        unavailable: The notice of a tab that cannot answer anything; None for the others.
    """

    text_count = 1

    def __init__(self, strings: S) -> None:
        self.strings = strings
        self.unavailable: Notice | None = None

    @abstractmethod
    def problem(self, texts: Sequence[str]) -> Notice | None:
        """Return why the texts cannot be answered, as far as that shows without a model."""

    @abstractmethod
    def panel(self, texts: Sequence[str], chosen: str) -> str:
        """Return the answer.

        Args:
            texts: One of each box.
            chosen: The name of the chosen model; empty, or a wrong one from a link.

        Raises:
            DataError: If the model can read nothing in a text.
        """

    @property
    def unreadable(self) -> Notice:
        """The notice for a text in which the model can read nothing."""
        return self.strings.page.unreadable

    def long(self, texts: Sequence[str]) -> Notice:
        """Return the notice for texts too long to be answered while they are typed."""
        return self.strings.long.filled(count=f"{_length(texts):,}")

    def asked(self, *boxes: str | None) -> str:
        """Return the panel for the button or Enter."""
        texts, chosen = self._read(boxes)
        if self.unavailable:
            return notice(self.unavailable, alarm=False)
        if problem := self.problem(texts) or too_long(self.strings.page, _length(texts)):
            return notice(problem)
        try:
            return self.panel(texts, chosen) + self._unknown(texts)
        except DataError:
            return notice(self.unreadable)
        except FAILURES as error:
            return notice(failure(self.strings.page, error))

    def typed(self, *boxes: str | None) -> str:
        """Return the panel while somebody types: a long text waits for the button."""
        texts, _ = self._read(boxes)
        if not self.unavailable:
            if not all(text.strip() for text in texts):
                return notice(self.strings.waiting, alarm=False)
            if LIVE_CHARACTERS < _length(texts) <= MAX_CHARACTERS:
                return notice(self.long(texts), alarm=False)
        return self.asked(*boxes)

    def announced(self, *boxes: str | None) -> str:
        """Return the panel until the button's answer to a long text is there; else nothing."""
        texts, _ = self._read(boxes)
        length = _length(texts)
        if (
            self.unavailable
            or self.problem(texts)
            or not LIVE_CHARACTERS < length <= MAX_CHARACTERS
        ):
            return ""
        return notice(self.strings.page.working.filled(count=f"{length:,}"), alarm=False)

    def _unknown(self, texts: Sequence[str]) -> str:
        """Return the note about signs that no bundled model knows."""
        return unknown_signs(self.strings.page, default_tokenizer(), texts)

    def _read(self, boxes: Sequence[str | None]) -> tuple[list[str], str]:
        values = [value or "" for value in boxes]
        return values[: self.text_count], "".join(values[self.text_count :])


class QuestionAnswers(TextAnswers[S]):
    """The panels with the answer to a question, the first text, from the second one."""

    text_count = 2

    @property
    def unreadable(self) -> Notice:
        """The notice for a question in which the model can read nothing."""
        return self.strings.page.unreadable_question


def chosen_models(models: Mapping[str, T], chosen: str) -> Iterable[tuple[str, T]]:
    """Return the chosen model with its name; all of them if none of theirs is chosen."""
    return [(chosen, models[chosen])] if chosen in models else models.items()


def timed(model: Callable[..., Any], *given: Any, **how: Any) -> tuple[Any, float]:
    """Ask a model; return its answer, and the seconds it took."""
    start = time.perf_counter()
    return model(*given, **how), time.perf_counter() - start


def too_long(strings: PageStrings, length: int) -> Notice | None:
    """Return a notice for more characters than the page takes; None for fewer."""
    if length <= MAX_CHARACTERS:
        return None
    return strings.too_long.filled(count=f"{length:,}", limit=f"{MAX_CHARACTERS:,}")


def failure(strings: PageStrings, error: BaseException | None) -> Notice:
    """Return a notice with the message of an error."""
    return strings.failed.filled(reason=failure_reason(error))


def failure_reason(error: BaseException | None) -> str:
    """Return the message of an error in one line, short enough for the page."""
    return " ".join(str(error).split())[:200] or type(error).__name__


def _length(texts: Sequence[str]) -> int:
    return sum(map(len, texts))
