"""A sentence with hidden words, and what the model puts there → HTML: pure functions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from apps.markup import element, escape, page, plain, shown
from apps.panels import bar, duration
from apps.texts.languages import Language
from zh_albert.inference.fill_mask import MASK, Candidate


class Word(NamedTuple):
    """A word of a sentence: ``sentence[start:end] == text``."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Gap:
    """A place the model fills.

    Attributes:
        start: First character of the text as it was typed.
        end: The character after the last.
        original: What stands there: words that were hidden, or masks, or both.
        candidates: Most probable first.
    """

    start: int
    end: int
    original: str
    candidates: Sequence[Candidate]

    @property
    def is_known(self) -> bool:
        """Whether it is known what stood there."""
        return MASK not in self.original

    @property
    def is_guessed(self) -> bool:
        """Whether the first candidate is what stood there."""
        return self.is_known and self.is_original(self.candidates[0])

    def is_original(self, candidate: Candidate) -> bool:
        """Say whether a candidate is what stood there; the vocabulary knows no capitals."""
        return candidate.text == self.original.lower()


def words_panel(say: Language, text: str, words: Sequence[Word], hidden: Collection[Word]) -> str:
    """Show a sentence whose words are buttons; ``data-word`` says where a word begins.

    Args:
        say: The page's language.
        text: The sentence.
        words: Those that can be hidden, in order.
        hidden: Those that are.
    """
    body = element(say.fill_mask.no_words, "p", "za-caption")
    if words:
        body = f'<div class="za-flow za-words">{"".join(_words(text, words, hidden))}</div>'
    return page(
        f'<div role="group" aria-labelledby="fill-words-title">'
        f'<div id="fill-words-title">{element(say.fill_mask.words, "h4")}</div>{body}</div>'
    )


def fill_panel(say: Language, text: str, gaps: Sequence[Gap], seconds: float) -> str:
    """Show the sentence as the model fills it, and each place's candidates with their bars."""
    took = say.page.latency.format(time=duration(seconds))
    cards = "".join(_card(say, number, gap) for number, gap in enumerate(gaps, start=1))
    return page(
        '<section class="za-section za-filled"><header>'
        f"{element(say.fill_mask.filled, 'h3')}{element(took, 'span', 'za-chip')}</header>"
        f'<p class="za-sentence">{_filled(text, gaps)}</p>'
        f'</section><div class="za-cards">{cards}</div>'
        f"{element(say.fill_mask.hint, 'p', 'za-caption za-note')}"
    )


def _words(text: str, words: Sequence[Word], hidden: Collection[Word]) -> Iterator[str]:
    position = 0
    for word in words:
        yield _between(text[position : word.start])
        yield (
            f'<button type="button" class="za-pick" data-word="{word.start}" '
            f'aria-pressed="{str(word in hidden).lower()}">{shown(word.text)}</button>'
        )
        position = word.end
    yield _between(text[position:])


def _between(text: str) -> str:
    """Show punctuation and the like; a typed mask looks like one."""
    mask = f'<span class="za-hidden">{escape(MASK)}</span>'
    return mask.join(shown(part) for part in text.split(MASK))


def _filled(text: str, gaps: Sequence[Gap]) -> str:
    parts, position = [], 0
    for gap in gaps:
        parts.append(plain(text[position : gap.start]))
        kind = "za-put za-right" if gap.is_guessed else "za-put"
        parts.append(f'<mark class="{kind}">{plain(gap.candidates[0].text)}</mark>')
        position = gap.end
    parts.append(plain(text[position:]))
    return "".join(parts)


def _card(say: Language, number: int, gap: Gap) -> str:
    if gap.is_known:
        wording = say.fill_mask.guessed if gap.is_guessed else say.fill_mask.original
        about = wording.format(word=gap.original)
    else:
        about = say.fill_mask.masks.format(count=gap.original.count(MASK))
    kind = "za-chip za-right" if gap.is_guessed else "za-chip"
    rows = "".join(
        bar(
            candidate.text,
            say.fill_mask.original_here if gap.is_known and gap.is_original(candidate) else "",
            100 * candidate.score,
            winner=rank == 0,
        )
        for rank, candidate in enumerate(gap.candidates)
    )
    return (
        f'<section class="za-card" data-gap="{number}"><header>'
        f"{element(say.fill_mask.gap.format(number=number), 'h3')}"
        f'<span class="{kind}">{plain(about)}</span></header>'
        f'<ol class="za-bars">{rows}</ol></section>'
    )
