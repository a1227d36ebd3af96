"""Augmentation by rules: words masked, exchanged for others of their part of speech, n-grams.

Source: Tang, Lu, Liu, Mou, Vechtomova, Lin 2019, "Distilling task-specific knowledge from BERT into
simple neural networks". Words and parts of speech are jieba's.
"""

from __future__ import annotations

import itertools
import random
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from zh_albert.compression.augmentation.variants import (
    UNKNOWN_SIGN,
    distinct_variants,
    sides_of,
)
from zh_albert.configio import check_at_least, check_fraction
from zh_albert.errors import ConfigError
from zh_albert.tasks.texts import Content
from zh_albert.tokenization.characters import replace_surrogates
from zh_albert.tokenization.words import segmenter

# The paper writes [MASK], which is never read from text here: whoever writes a text must not be
# able to write special tokens. An unknown word, too, tells the models nothing but where a word was.
# Spaces keep two in a row, or one beside an English word, from becoming a single [UNK].
MASKED = f" {UNKNOWN_SIGN} "
LONGEST_NGRAM = 5  # words
_TURNS = ((0,), (1,), (0, 1))  # of pairs: the first text, the second, both


@dataclass(frozen=True, kw_only=True)
class TangAugmentation:
    """Settings of ``tang_variants``; the defaults are the paper's.

    Raises:
        ConfigError: If a value is out of range, or nothing would be changed.
    """

    variants: int = 20  # drawn for each text; equal ones are left out
    mask: float = 0.1  # probability of a word to be masked
    same_pos: float = 0.1  # … to become another word of the same part of speech instead
    ngram: float = 0.25  # probability of a variant to be cut to 1 to 5 words

    def __post_init__(self) -> None:
        check_at_least(1, "variants", self.variants)
        for name in ("mask", "same_pos", "ngram"):
            check_fraction(name, getattr(self, name))
        if self.mask + self.same_pos > 1:
            raise ConfigError(
                "mask and same_pos exclude each other and must add up to at most 1, got "
                f"{self.mask} and {self.same_pos}"
            )
        if not self.mask and not self.same_pos and not self.ngram:
            raise ConfigError(
                "with mask, same_pos and ngram of 0 no text is changed; give one of them"
            )


class Word(NamedTuple):
    """A word as it is written, or what stands between words (punctuation, spaces, emoji).

    Attributes:
        text: Those of a text, concatenated, are the text.
        tag: jieba's part of speech; empty between words.
    """

    text: str
    tag: str


Tagger = Callable[[str], list[Word]]
"""Splits a text into words."""


def tagger() -> Tagger:
    """Return jieba's tagger of parts of speech.

    Raises:
        MissingExtraError: If jieba is not installed.
    """
    segmenter("jieba")  # says what is missing, and keeps jieba quiet
    import jieba.posseg  # noqa: PLC0415  (an extra)

    def tagged(text: str) -> list[Word]:
        words, start = [], 0
        for pair in jieba.posseg.cut(replace_surrogates(text)):
            written = text[start : start + len(pair.word)]
            words.append(Word(written, pair.flag if any(map(str.isalnum, written)) else ""))
            start += len(written)
        return words

    return tagged


class Frequencies:
    """How often the words of one part of speech occur, for drawing."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._words = sorted(counts)  # so that the order of the texts makes no difference
        self._ends = list(itertools.accumulate(counts[word] for word in self._words))

    def another(self, word: str, rng: random.Random) -> str:
        """Draw one of the other words by frequency; the word itself if there are none.

        Args:
            word: One of those counted.
            rng: Draws.
        """
        index = bisect_left(self._words, word)
        start, end = (self._ends[index - 1] if index else 0), self._ends[index]
        others = self._ends[-1] - (end - start)
        if not others:
            return word
        place = rng.randrange(others)
        return self._words[
            bisect_right(self._ends, place if place < start else place + end - start)
        ]


def tang_variants(
    contents: Sequence[Content], settings: TangAugmentation, seed: int
) -> Iterator[list[Content]]:
    """Return the variants of each content, in order.

    In each variant a word is masked (see ``MASKED``) with probability ``mask``, or else becomes
    another word of its part of speech with probability ``same_pos``, drawn by its frequency in
    ``contents``. With probability ``ngram`` the result is then cut to 1 to 5 of its words. Of
    pairs, the first text, the second, and both are changed in turn.

    Args:
        contents: Training texts or pairs.
        settings: How many, and how strongly they differ.
        seed: Equal seeds give equal variants of a content, whatever the order of ``contents``.

    Raises:
        MissingExtraError: If jieba is not installed.
    """
    tagged = tagger()
    words = {text: tagged(text) for content in contents for text in sides_of(content)}
    texts = (text for content in contents for text in sides_of(content))
    same_pos = _by_tag(word for text in texts for word in words[text])

    def change(text: str, rng: random.Random) -> str:
        parts = [word.text for word in words[text]]
        places = [place for place, word in enumerate(words[text]) if word.tag]
        for place in places:
            number = rng.random()
            if number < settings.mask:
                parts[place] = MASKED
            elif number < settings.mask + settings.same_pos:
                parts[place] = same_pos[words[text][place].tag].another(parts[place], rng)
        if places and rng.random() < settings.ngram:
            length = min(rng.randint(1, LONGEST_NGRAM), len(places))
            first = rng.randrange(len(places) - length + 1)
            parts = parts[places[first] : places[first + length - 1] + 1]
        return "".join(parts)

    return (
        distinct_variants(content, [change] * 2, _TURNS, settings.variants, seed)
        for content in contents
    )


def _by_tag(words: Iterable[Word]) -> dict[str, Frequencies]:
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for word in words:
        if word.tag:
            counts[word.tag][word.text] += 1
    return {tag: Frequencies(counted) for tag, counted in counts.items()}
