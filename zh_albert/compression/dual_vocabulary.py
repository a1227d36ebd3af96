"""Two vocabularies in one input: some words in a student's smaller one, the others in its
teacher's.

A teacher that reads both learns to predict from the student's pieces, too, so that a student with a
smaller vocabulary can be taught by its states.

Source: Zhao, Gupta, Song, Zhou 2019, "Extreme language model compression with optimal subwords and
shared projections".
"""

from __future__ import annotations

import random
import string
from collections.abc import Sequence
from dataclasses import dataclass

from zh_albert.errors import ConfigError
from zh_albert.tokenization.characters import replace_surrogates
from zh_albert.tokenization.encoding import Encoding, SpecialIds
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.tokenization.vocab import Vocabulary
from zh_albert.tokenization.wordpiece import CONTINUATION
from zh_albert.tokenization.words import Cut, word_ranges


@dataclass(frozen=True)
class DualVocabulary:
    """The rows of a teacher's vocabulary, and after them those of a student's.

    Attributes:
        teacher: Its ids stay as they are.
        student: Its ids are moved up by the teacher's number of rows.
        cut: Words, which are never mixed of both; see ``Segmenter``.
    """

    teacher: Tokenizer
    student: Tokenizer
    cut: Cut

    @property
    def special(self) -> SpecialIds:
        """Ids of the special tokens: the teacher's, as an input needs only one of each."""
        return self.teacher.special

    @property
    def vocab_size(self) -> int:
        """Number of rows of both."""
        return self.teacher.vocab_size + self.student.vocab_size

    def encode(self, text: str, share: float, rng: random.Random) -> Encoding:
        """Tokenize one text; no special tokens are added.

        Both segmentations of a word stand for the same characters of the text. A word that only one
        of the vocabularies reads (the other drops its characters) goes with its neighbour.

        Args:
            text: Any.
            share: Probability of a word to be segmented by the student's vocabulary: 0 gives the
                teacher's tokens, 1 the student's.
            rng: Draws once for each word.

        Raises:
            ConfigError: If ``share`` is not from 0 to 1.
        """
        if not 0 <= share <= 1:
            raise ConfigError(f"share is a probability and must be from 0 to 1, got {share}")
        encodings = [tokenizer.encode(text) for tokenizer in (self.teacher, self.student)]
        words = list(self.cut(replace_surrogates(text)))
        ids: list[int] = []
        offsets: list[tuple[int, int]] = []
        for both in _common_words(text, encodings, lambda _: words):
            which = int(rng.random() < share)
            part = encodings[which].part(both[which])
            ids += [token + which * self.teacher.vocab_size for token in part.ids]
            offsets += part.offsets
        return Encoding(ids, offsets)


def chosen_rows(vocabulary: Vocabulary, counts: Sequence[int], size: int) -> list[int]:
    """Return the rows of a teacher's vocabulary that a student's consists of, in their order.

    These are the special tokens, letters and digits (alone, and within a word: they spell every
    English word whose row is left out), and the most frequent of the others.

    Args:
        vocabulary: The teacher's.
        counts: How often each row occurs in training texts.
        size: Rows of the student's vocabulary.

    Raises:
        ConfigError: If there is not a count for each row, or ``size`` is more than the vocabulary
            has or less than the rows that are always chosen.

    >>> vocabulary = Vocabulary(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "中", "国", "a"])
    >>> chosen_rows(vocabulary, [0, 0, 0, 0, 0, 3, 9, 0], 7)
    [0, 1, 2, 3, 4, 6, 7]
    """
    if len(counts) != len(vocabulary):
        raise ConfigError(
            f"expected a count for each of the vocabulary's {len(vocabulary)} rows, found "
            f"{len(counts)}; count the tokens of this vocabulary"
        )
    spelling = {*string.ascii_letters, *string.digits}
    always = [
        row
        for row, token in enumerate(vocabulary.tokens)
        if row in vocabulary.special or token.removeprefix(CONTINUATION) in spelling
    ]
    if not len(always) <= size <= len(vocabulary):
        raise ConfigError(
            f"size must be from {len(always)} (special tokens, letters and digits) to "
            f"{len(vocabulary)}, the teacher's rows; got {size}"
        )
    others = sorted({*range(len(vocabulary))}.difference(always), key=lambda row: -counts[row])
    return sorted([*always, *others[: size - len(always)]])


def _common_words(text: str, encodings: Sequence[Encoding], cut: Cut) -> list[list[range]]:
    """Return the token ranges of each word in each encoding.

    A word begins where both encodings begin one.
    """
    ranges = [word_ranges(text, encoding.offsets, cut) for encoding in encodings]
    first_tokens = [
        {encoding.offsets[word.start][0]: word.start for word in words}
        for encoding, words in zip(encodings, ranges, strict=True)
    ]
    common = sorted(set.intersection(*map(set, first_tokens)))
    bounds = [
        [0, *(first[start] for start in common[1:]), len(encoding)]
        for encoding, first in zip(encodings, first_tokens, strict=True)
    ]
    return [
        [range(starts[word], starts[word + 1]) for starts in bounds]
        for word in range(max(1, len(common)))
    ]
