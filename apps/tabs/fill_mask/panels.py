"""A sentence with hidden words, and the model's candidates for them → HTML."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from apps.markup.bars import bar, bars
from apps.markup.numbers import duration
from apps.markup.sections import caption, header, section
from apps.markup.text import element, escape, panel, plain, shown, spliced
from apps.tabs.fill_mask.strings import FillMaskStrings
from zh_albert.inference.fill_mask import MASK, Candidate


class Word(NamedTuple):
    """A word of a sentence: ``sentence[start:end] == text``."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Gap:
    """A place that the model fills.

    Attributes:
        start: Its first character in the text as it was typed.
        end: The character after its last.
        original: The typed text there: hidden words, or masks, or both.
        read_as: The same as the model reads it: simplified, in small letters, of usual width.
        candidates: Most probable first.
    """

    start: int
    end: int
    original: str
    read_as: str
    candidates: Sequence[Candidate]

    @property
    def is_known(self) -> bool:
        """Whether the original word is known."""
        return MASK not in self.original

    @property
    def is_guessed(self) -> bool:
        """Whether the first candidate is the original word."""
        return self.is_known and self.is_original(self.candidates[0])

    def is_original(self, candidate: Candidate) -> bool:
        """Return whether a candidate is the original word."""
        return candidate.text == self.read_as


def words_panel(
    strings: FillMaskStrings, text: str, words: Sequence[Word], hidden: Collection[Word]
) -> str:
    """Return a sentence whose words are buttons; ``data-word`` is the place of a word.

    Args:
        strings: The tab's strings.
        text: The sentence.
        words: Those that can be hidden, in order.
        hidden: Those that are.
    """
    body = caption(strings.no_words)
    if words:
        buttons = ((word.start, word.end, _button(word, word in hidden)) for word in words)
        body = f'<div class="za-flow za-words">{spliced(text, buttons, _between)}</div>'
    return panel(
        f'<div role="group" aria-labelledby="fill-words-title">'
        f'<div id="fill-words-title">{element(strings.words, "h4")}</div>{body}</div>'
    )


def fill_panel(strings: FillMaskStrings, text: str, gaps: Sequence[Gap], seconds: float) -> str:
    """Return the sentence as the model fills it, and the candidates of each gap with bars."""
    took = strings.page.latency.format(time=duration(seconds))
    marks = ((gap.start, gap.end, _mark(gap)) for gap in gaps)
    sentence = f'<p class="za-sentence">{spliced(text, marks, plain)}</p>'
    filled = section(header(strings.filled, took) + sentence, "za-filled")
    cards = "".join(_card(strings, number, gap) for number, gap in enumerate(gaps, start=1))
    return panel(
        f'{filled}<div class="za-cards">{cards}</div>{caption(strings.hint, "za-caption za-note")}'
    )


def _button(word: Word, is_hidden: bool) -> str:
    return (
        f'<button type="button" class="za-pick" data-word="{word.start}" '
        f'aria-pressed="{str(is_hidden).lower()}">{shown(word.text)}</button>'
    )


def _between(text: str) -> str:
    """Return the text between words: punctuation, and masks that were typed."""
    mask = f'<span class="za-hidden">{escape(MASK)}</span>'
    return mask.join(shown(part) for part in text.split(MASK))


def _mark(gap: Gap) -> str:
    kind = "za-put za-right" if gap.is_guessed else "za-put"
    return f'<mark class="{kind}">{plain(gap.candidates[0].text)}</mark>'


def _card(strings: FillMaskStrings, number: int, gap: Gap) -> str:
    if gap.is_known:
        wording = strings.guessed if gap.is_guessed else strings.original
        about = wording.format(word=gap.original)
    else:
        about = strings.masks.format(count=gap.original.count(MASK))
    rows = [
        bar(
            candidate.text,
            strings.original_here if gap.is_known and gap.is_original(candidate) else "",
            100 * candidate.score,
            winner=rank == 0,
        )
        for rank, candidate in enumerate(gap.candidates)
    ]
    title, kind = strings.gap.format(number=number), "za-chip za-right"
    head = header(title, about, kind if gap.is_guessed else "za-chip")
    return f'<section class="za-card" data-gap="{number}">{head}{bars(rows)}</section>'
