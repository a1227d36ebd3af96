"""What the fill-mask tab answers to a sentence and the words hidden in it; knows no Gradio."""

from __future__ import annotations

import re
import time
from collections.abc import Collection
from typing import NamedTuple

from apps.fill_panels import Gap, Word, fill_panel, words_panel
from apps.markup import notice
from apps.texts.languages import Language
from zh_albert.errors import ZhAlbertError
from zh_albert.inference.fill_mask import MASK, FillMask
from zh_albert.tokenization.characters import is_chinese, is_letter
from zh_albert.tokenization.words import Cut, word_ranges

MAX_CHARACTERS = 500
MAX_GAPS = 12


class FillState(NamedTuple):
    """What the tab shows.

    Attributes:
        words: The sentence as buttons.
        hidden: Words of it that are hidden; plain tuples, which JSON can hold.
        result: The panel beside it.
    """

    words: str
    hidden: list[tuple[int, int, str]]
    result: str


class FillAnswers:
    """What the tab shows after each thing a person can do.

    Whatever the browser sends, only words of the text as it stands are ever hidden: those that
    still stand where they stood.

    Args:
        say: The page's language.
        encoder: Fills the masks.
        cut: A word segmenter.
    """

    def __init__(self, say: Language, encoder: FillMask, cut: Cut) -> None:
        self._say, self._encoder, self._cut = say, encoder, cut

    def typed(self, text: str | None, hidden: object) -> FillState:
        """Answer while the person types."""
        return self._state(text or "", hidden, asked=False)

    def asked(self, text: str | None, hidden: object) -> FillState:
        """Answer the button: now having nothing to do is an error."""
        return self._state(text or "", hidden, asked=True)

    def toggled(self, text: str | None, hidden: object, place: object) -> FillState:
        """Hide a word, or put it back.

        Args:
            text: What stands in the box.
            hidden: What is hidden so far.
            place: The first character of the word; anything else changes nothing.
        """
        words = self.words(text or "")
        clicked = {word for word in words if str(word.start) == place}
        return self._state(text or "", [*clicked ^ {*_standing(words, hidden)}], asked=False)

    def example(self, marked: str) -> tuple[str, FillState]:
        """Return an example's text, and show it with the words in 【】 hidden."""
        text = re.sub("[【】]", "", marked)
        names = re.findall("【(.*?)】", marked)
        hidden = [word for word in self.words(text) if word.text in names]
        return text, self._state(text, hidden, asked=False)

    def words(self, text: str) -> list[Word]:
        """Return the words that can be hidden: with a letter, digit or Chinese character.

        A ``[MASK]`` is none, and ends the word before it. A text longer than the tab takes has
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
        kept = _standing(words, hidden)
        return FillState(
            words_panel(self._say, text, words, kept),
            [(word.start, word.end, word.text) for word in kept],
            self._result(text, kept, asked),
        )

    def _result(self, text: str, hidden: Collection[Word], asked: bool) -> str:
        say = self._say
        if not text.strip():
            return notice(say.fill_mask.empty if asked else say.fill_mask.waiting, alarm=asked)
        if len(text) > MAX_CHARACTERS:
            limits = {"count": f"{len(text):,}", "limit": f"{MAX_CHARACTERS:,}"}
            return notice(say.fill_mask.too_long.filled(**limits))
        start = time.perf_counter()
        try:
            masked, grown = self._masked(text, hidden)
            if MASK not in masked:
                return notice(say.fill_mask.nothing_hidden, alarm=asked)
            count = len(re.findall(f"(?:{re.escape(MASK)})+", masked))
            if count > MAX_GAPS:
                return notice(say.fill_mask.too_many.filled(count=count, limit=MAX_GAPS))
            [spots] = self._encoder(masked)
        except (ZhAlbertError, RuntimeError, MemoryError) as error:
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            return notice(say.page.failed.filled(reason=reason))
        gaps = []
        for spot in spots:
            first, last = (_before(place, grown) for place in (spot.start, spot.end))
            gaps.append(Gap(first, last, text[first:last], spot.candidates))
        return fill_panel(say, text, gaps, time.perf_counter() - start)

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


def _standing(words: Collection[Word], hidden: object) -> list[Word]:
    """Return the words that are hidden, if they still stand where they stood.

    Args:
        words: Those of the text.
        hidden: From the browser, which makes lists of words; or from a link, so perhaps nonsense.
    """
    told = hidden if isinstance(hidden, list) else []
    places = [tuple(one) for one in told if isinstance(one, list | tuple)]
    return [word for word in words if word in places]


def _before(place: int, grown: Collection[tuple[int, int]]) -> int:
    """Return where a border of masks stood before words were hidden; see ``_masked``."""
    return place - sum(longer for end, longer in grown if end <= place)
