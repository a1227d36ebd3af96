"""Sentences as words with parts of speech, and rules that change them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeVar

from corpora_tools.lessons import tables
from zh_albert.compression.augmentation.tang import Word

Relation = Literal["entailment", "neutral", "contradiction"]
T = TypeVar("T")

NOUNS = ("n", "r", "s", "f", "j", "eng", "an", "vn")  # beginnings of jieba's tags
_IN_PHRASE = (*NOUNS, "uj", "m", "q", "mq")
_CONDITION = re.compile(
    "如果|假如|要是|倘若|假设|除非|是否|无论|不管|不论|即使|哪怕|只要|只有|难道|何尝|何必|岂|谁不|希望|以免"
)
_ASKING = re.compile(
    "[？?吗]|呢$|什么|怎么|怎样|咋|如何|为何|为啥|谁|哪|多少|是否|([能会要是有可好对])[不没]\\1"
)
NEGATION = re.compile(
    "[不没勿否]|无(?!锡|线)|未(?!来)|(?<![特个区性级类分])别(?![人墅的])|莫(?![斯名])|非(?![常洲])"
)


@dataclass(frozen=True)
class Sentence:
    """A sentence; its words, concatenated, are its text."""

    words: tuple[Word, ...]

    @cached_property
    def text(self) -> str:
        """The text as it is written."""
        return "".join(word.text for word in self.words)

    @cached_property
    def asks(self) -> bool:
        """Whether it is a question."""
        return bool(_ASKING.search(self.text))

    @cached_property
    def states(self) -> bool:
        """Whether it says that something is so: no question, no condition."""
        return not self.asks and not _CONDITION.search(self.text)

    def word(self, place: int) -> Word:
        """Return a word; outside the sentence an empty one."""
        return self.words[place] if 0 <= place < len(self.words) else Word("", "")

    def replaced(self, start: int, end: int, new: str) -> str:
        """Return the text with the words from ``start`` to before ``end`` replaced."""
        before = "".join(word.text for word in self.words[:start])
        return before + new + "".join(word.text for word in self.words[end:])

    def span(self, start: int, end: int) -> str:
        """Return the text of some words."""
        return "".join(word.text for word in self.words[start:end])

    @cached_property
    def runs(self) -> list[tuple[int, int, str]]:
        """The runs of up to four words: start, end, text; by start, the longest first."""
        count = len(self.words)
        return [
            (start, end, self.span(start, end))
            for start in range(count)
            for end in range(min(count, start + 4), start, -1)
        ]

    def phrases(self, table: Mapping[str, T]) -> Iterator[tuple[int, int, T]]:
        """Yield the words, and runs of words, that are in a table: start, end, entry."""
        done = 0
        for start, end, text in self.runs:
            if start >= done and (entry := table.get(text)) is not None:
                yield start, end, entry
                done = end

    def clause(self, place: int) -> tuple[int, int]:
        """Return where the clause of a word starts and ends, between punctuation marks."""
        start, end = place, place
        while start > 0 and self.words[start - 1].tag:
            start -= 1
        while end < len(self.words) and self.words[end].tag:
            end += 1
        return start, end

    def noun_phrase(self, start: int, step: int) -> int:
        """Return where the noun phrase that begins (ends, for step -1) at a word stops.

        It is ``start`` itself where there is none that surely is one.
        """
        place = start
        while self.word(place).tag.startswith(_IN_PHRASE):
            place += step
        phrase = self.words[place + 1 : start + 1] if step < 0 else self.words[start:place]
        last = phrase[-1] if phrase else Word("", "")
        clean = last.tag.startswith(("n", "j")) or last.text in tables.words("pronoun")
        clean = clean and phrase[0].tag != "uj"
        clean = clean and not any(word.text in tables.words("no_name") for word in phrase)
        return place if clean and "、" not in self.text else start

    def sides(self, marks: Collection[str]) -> Iterator[tuple[int, int, int]]:
        """Find a preposition between two noun phrases that begin a clause: A比B, A把B.

        Yields:
            Where the first one starts, the place of the preposition, where the second one ends.
        """
        for place, word in enumerate(self.words):
            if word.text in marks and word.tag == "p":
                start = self.noun_phrase(place - 1, -1) + 1
                end = self.noun_phrase(place + 1, 1)
                if self.clause(place)[0] == start < place and place + 1 < end:
                    yield start, place, end

    def in_modifier(self, place: int) -> bool:
        """Whether 的 follows in the clause, so that the word may only describe a noun."""
        _, end = self.clause(place)
        return any(word.text in ("的", "之") for word in self.words[place + 1 : end])


class Rule(NamedTuple):
    """A way to change a sentence.

    Attributes:
        kind: Its name in the lessons.
        change: Returns the changed text, or None where it does not apply safely.
        relation: What the sentence says about the changed one.
        score: Similarity of the two, 0 to 5; None for lessons of one direction.
    """

    kind: str
    change: Callable[[Sentence, random.Random], str | None]
    relation: Relation
    score: float | None


def drawn(rng: random.Random, found: Sequence[T]) -> T | None:
    """Draw one of what was found; None of nothing."""
    return rng.choice(found) if found else None
