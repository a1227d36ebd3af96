"""The answers of the fill-mask tab to a sentence and its hidden words; no Gradio."""

from __future__ import annotations

import re
import time
from collections.abc import Collection
from typing import NamedTuple

from apps.markup.text import notice
from apps.markup.unknown_signs import unknown_signs
from apps.tabs.fill_mask.panels import Gap, Word, fill_panel, words_panel
from apps.tabs.fill_mask.strings import FillMaskStrings
from apps.text_answers import FAILURES, failure
from zh_albert.inference.fill_mask import MASK, FillMask
from zh_albert.tokenization.characters import is_chinese, is_letter
from zh_albert.tokenization.words import Cut, word_ranges

MAX_CHARACTERS = 500
MAX_GAPS = 12


class FillState(NamedTuple):
    """Everything that the tab shows.

    Attributes:
        words: The sentence as buttons.
        hidden: The hidden words, as plain tuples, which fit into JSON.
        result: The panel with the candidates.
    """

    words: str
    hidden: list[tuple[int, int, str]]
    result: str


class FillAnswers:
    """The states of the tab after each thing that a visitor can do.

    Whatever the browser sends, only words of the current text are ever hidden: those that still
    stand where they stood.

    Args:
        strings: The tab's strings.
        encoder: Fills the masks.
        cut: A word segmenter.
    """

    def __init__(self, strings: FillMaskStrings, encoder: FillMask, cut: Cut) -> None:
        self._strings, self._encoder, self._cut = strings, encoder, cut

    def typed(self, text: str | None, hidden: object) -> FillState:
        """Answer while somebody types."""
        return self._state(text or "", hidden, asked=False)

    def asked(self, text: str | None, hidden: object) -> FillState:
        """Answer the button: now a text without masks is an error."""
        return self._state(text or "", hidden, asked=True)

    def hiding(self, text: str | None, places: object) -> FillState:
        """Hide some words, and no others.

        Args:
            text: The sentence.
            places: The first character of each word, as strings; anything else hides nothing.
        """
        asked = places if isinstance(places, list) else []
        hidden = [word for word in self.words(text or "") if str(word.start) in asked]
        return self._state(text or "", hidden, asked=False)

    def example(self, marked: str) -> tuple[str, FillState]:
        """Return an example's text, and show it with the words in 【】 hidden."""
        text = re.sub("[【】]", "", marked)
        names = re.findall("【(.*?)】", marked)
        hidden = [word for word in self.words(text) if word.text in names]
        return text, self._state(text, hidden, asked=False)

    def words(self, text: str) -> list[Word]:
        """Return the words that can be hidden: with a letter, digit or Chinese character.

        A ``[MASK]`` is not one, and ends the word before it. A text longer than the tab takes has
        none.
        """
        if len(text) > MAX_CHARACTERS:
            return []
        found: list[Word] = []
        shift = 0
        for part in re.split(f"({re.escape(MASK)})", text):
            if part != MASK:
                offsets = self._encoder.tokenizer.encode(part).offsets
                for tokens in word_ranges(part, offsets, self._cut):
                    start, end = offsets[tokens.start][0], offsets[tokens.stop - 1][1]
                    word = Word(shift + start, shift + end, part[start:end])
                    if any(is_chinese(c) or is_letter(c) for c in word.text):
                        found.append(word)
            shift += len(part)
        return found

    def _state(self, text: str, hidden: object, *, asked: bool) -> FillState:
        words = self.words(text)
        kept = _still_there(words, hidden)
        return FillState(
            words_panel(self._strings, text, words, kept),
            [(word.start, word.end, word.text) for word in kept],
            self._result(text, kept, asked),
        )

    def _result(self, text: str, hidden: Collection[Word], asked: bool) -> str:
        strings = self._strings
        if not text.strip():
            return notice(strings.empty if asked else strings.waiting, alarm=asked)
        if len(text) > MAX_CHARACTERS:
            limits = {"count": f"{len(text):,}", "limit": f"{MAX_CHARACTERS:,}"}
            return notice(strings.too_long.filled(**limits))
        start = time.perf_counter()
        try:
            masked, grown = self._masked(text, hidden)
            if MASK not in masked:
                return notice(strings.nothing_hidden, alarm=asked)
            count = len(re.findall(f"(?:{re.escape(MASK)})+", masked))
            if count > MAX_GAPS:
                return notice(strings.too_many.filled(count=count, limit=MAX_GAPS))
            [spots] = self._encoder(masked)
        except FAILURES as error:
            return notice(failure(strings.page, error))
        gaps = []
        for spot in spots:
            first, last = (_unmasked(place, grown) for place in (spot.start, spot.end))
            original = text[first:last]
            gaps.append(Gap(first, last, original, self._read_as(original), spot.candidates))
        shown = fill_panel(strings, text, gaps, time.perf_counter() - start)
        return shown + unknown_signs(strings.page, self._encoder.tokenizer, text.split(MASK))

    def _read_as(self, text: str) -> str:
        tokenizer = self._encoder.tokenizer
        return tokenizer.text(tokenizer.encode(text).ids)

    def _masked(self, text: str, hidden: Collection[Word]) -> tuple[str, list[tuple[int, int]]]:
        """Hide words; also return where each one's masks end, and how much longer they are."""
        grown = []
        shift = 0
        for word in sorted(hidden):
            longer = self._encoder.hide(text, word.start + shift, word.end + shift)
            shift += len(longer) - len(text)
            grown.append((word.end + shift, len(longer) - len(text)))
            text = longer
        return text, grown


def _still_there(words: Collection[Word], hidden: object) -> list[Word]:
    """Return the hidden words that still stand where they stood.

    Args:
        words: The words of the text.
        hidden: From the browser, which turns words into lists, or from a link: anything.
    """
    given = hidden if isinstance(hidden, list) else []
    places = [tuple(one) for one in given if isinstance(one, list | tuple)]
    return [word for word in words if word in places]


def _unmasked(place: int, grown: Collection[tuple[int, int]]) -> int:
    """Return the place in the typed text of a place in the masked one; see ``_masked``."""
    return place - sum(longer for end, longer in grown if end <= place)
