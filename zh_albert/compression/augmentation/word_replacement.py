"""Augmentation by a masked language model: words replaced by words that fit their place.

Source: Jiao, Yin, Shang, Jiang, Chen, Li, Wang, Liu 2020, "TinyBERT: distilling BERT for natural
language understanding", algorithm 1. Chinese needs whole words here: single characters guessed
one by one make words that do not exist.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from zh_albert.checkpoints.resolve import resolve_model
from zh_albert.checkpoints.store import load_config, load_weights
from zh_albert.checkpoints.stored_model import BESIDE_MASKED_LM
from zh_albert.checkpoints.tokenizers import matching_tokenizer
from zh_albert.checkpoints.verified import verified
from zh_albert.compression.augmentation.variants import distinct_variants, sides_of
from zh_albert.configio import check_at_least, check_fraction
from zh_albert.errors import CheckpointError, ConfigError
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.tasks.texts import Content
from zh_albert.tokenization.characters import is_chinese, replace_surrogates
from zh_albert.tokenization.encoding import Encoding, windows
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.tokenization.words import segmenter

# Every fourth word of a text is masked at once, so a text of any length costs four passes. With 2,
# 3, 4, 6 and 40 passes the original is among the 15 best words in 37, 42, 44, 44 and 45 % of places
# of TNEWS' texts.
PASSES = 4
_COMMON = 10  # occurrences in jieba's corpus: rarer "words" are often names or fragments
# How much counts that characters occur together: 0 multiplies their probabilities as if they were
# independent, and 一把 beats 学生. Of TNEWS' words of several characters, the original is among the
# 15 best in 25, 29 and 28 % of places with 0, 0.5 and 1.
_TOGETHER = 0.5
_WINDOW = 254  # tokens; more context would decide no word
_TURNS = ((0,), (1,))  # of pairs: the first text, the second


@dataclass(frozen=True, kw_only=True)
class WordReplacement:
    """Settings of ``word_replacements``; the defaults are the paper's.

    Raises:
        ConfigError: If a value is out of range.
    """

    variants: int = 20  # drawn for each text, 10 to 30 in the paper; equal ones are left out
    candidates: int = 15  # words a word is replaced by
    share: float = 0.4  # probability of a word to be replaced
    encoder: str = "encoder"  # proposes the words: a bundled name, a folder or a hub id

    def __post_init__(self) -> None:
        check_at_least(1, "variants", self.variants)
        check_at_least(1, "candidates", self.candidates)
        check_fraction("share", self.share)
        if not self.share:
            raise ConfigError("with a share of 0 no text is changed; the paper's is 0.4")


class Place(NamedTuple):
    """A word of a text and the words that can stand in its place.

    Attributes:
        start: The word's first character.
        end: The character after its last.
        candidates: Most probable first, without the word itself; all have its length.
    """

    start: int
    end: int
    candidates: list[str]


class _Blank(NamedTuple):
    """A word of Chinese characters, each of which is a token of its own."""

    start: int  # in the text
    tokens: range  # in the encoded text


class _Lexicon(NamedTuple):
    """The words of one length."""

    words: list[str]
    ids: Tensor  # of their characters; shape: (words, length)
    together: Tensor  # log of how much more often than by chance they stand together; (words,)
    numbers: dict[tuple[int, ...], int]  # places in ``words``, by ids


class WordProposer:
    """Words that can stand in the place of a text's words, by a masked language model.

    All characters of a word are masked, and the words of its length in jieba's dictionary are
    ranked by the product of their characters' probabilities, corrected for how often the
    characters occur together. One pass answers for the whole word; a beam search over its
    characters would need a pass for each of its branches.

    Args:
        folder: Of a pretrained encoder with its masked-LM head.

    Raises:
        CheckpointError: If it is none, or its tokens are not Chinese characters.
        MissingExtraError: If jieba is not installed.
    """

    def __init__(self, folder: Path) -> None:
        with verified(folder):
            config, task = load_config(folder)
            self._tokenizer = matching_tokenizer(folder, config)
            self._model = AlbertForPretraining(config).eval()
            load_weights(self._model, folder, new=BESIDE_MASKED_LM)
        longest = config.max_position_embeddings
        trained_on = task.get("max_length", longest)
        if not isinstance(trained_on, int) or not 3 <= trained_on <= longest:
            raise CheckpointError(
                f"{folder}: expected max_length from 3 to {longest} in config.json, found "
                f"{trained_on!r}; download the folder again"
            )
        self._room = min(_WINDOW, trained_on - 2)
        self._cut = segmenter().cut
        self._lexicons = _lexicons(self._tokenizer)
        if not self._lexicons:
            raise CheckpointError(
                f"{folder}: expected a vocabulary of Chinese characters, found none that spells "
                "jieba's words; use a WordPiece encoder, such as the bundled one"
            )

    def __call__(self, text: str, count: int) -> list[Place]:
        """Return the words of a text that can be replaced, in order.

        Only words of Chinese characters can be. A long text is read in windows; a word that is cut
        by the end of one stays. A text is read alone, so that no other text changes its candidates.

        Args:
            text: Of any length.
            count: Candidates of each word; fewer if there are not as many words of its length.
        """
        encoding = self._tokenizer.encode(text)
        blanks = self._blanks(text, encoding)
        places: list[Place] = []
        for window in windows(encoding, self._room, 0):
            known = places[-1].end if places else 0  # the last window overlaps the one before
            here = [
                blank
                for blank in blanks
                if blank.start >= known
                if blank.tokens.start in window and blank.tokens[-1] in window
            ]
            if here:
                places += self._proposed(encoding.ids, window, here, count)
        return places

    def _blanks(self, text: str, encoding: Encoding) -> list[_Blank]:
        blanks, start = [], 0
        for word in self._cut(replace_surrogates(text)):
            end = start + len(word)
            if len(word) in self._lexicons and all(map(is_chinese, word)):
                tokens = encoding.tokens_at(start, end)
                alone = [(place, place + 1) for place in range(start, end)]
                if encoding.offsets[tokens.start : tokens.stop] == alone:
                    blanks.append(_Blank(start, tokens))
            start = end
        return blanks

    def _proposed(
        self, ids: Sequence[int], window: range, blanks: Sequence[_Blank], count: int
    ) -> list[Place]:
        scores = iter(self._log_probabilities(ids, window, blanks))
        places = []
        for blank in blanks:
            end = blank.start + len(blank.tokens)
            lexicon = self._lexicons[len(blank.tokens)]
            products = _TOGETHER * lexicon.together
            for column in lexicon.ids.T:
                products += next(scores)[column]
            itself = lexicon.numbers.get(tuple(ids[blank.tokens.start : blank.tokens.stop]))
            if itself is not None:
                products[itself] = -torch.inf
            others = len(lexicon.words) - (itself is not None)
            best = products.topk(min(count, others)).indices.tolist()
            if best:
                places.append(Place(blank.start, end, [lexicon.words[place] for place in best]))
        return places

    def _log_probabilities(
        self, ids: Sequence[int], window: range, blanks: Sequence[_Blank]
    ) -> Tensor:
        """Return those of the blanks' tokens, in order. Shape: (tokens of blanks, vocab)."""
        special = self._tokenizer.special
        row = torch.tensor([special.cls, *ids[window.start : window.stop], special.sep])
        token_ids = row.repeat(min(PASSES, len(blanks)), 1)
        positions = torch.tensor(
            [
                (number % PASSES, token - window.start + 1)
                for number, blank in enumerate(blanks)
                for token in blank.tokens
            ]
        )
        token_ids[positions[:, 0], positions[:, 1]] = special.mask
        with torch.inference_mode():
            hidden = self._model.encoder(
                token_ids, torch.zeros_like(token_ids), torch.ones_like(token_ids, dtype=torch.bool)
            ).hidden
            return self._model.masked_logits(hidden, positions).float().log_softmax(-1)


def word_replacements(
    contents: Sequence[Content], settings: WordReplacement, seed: int
) -> Iterator[list[Content]]:
    """Return the variants of each content, in order.

    In each variant, a word becomes one of its candidates with probability ``share``, so a variant
    has the length of its text. Words that are not Chinese stay. Of pairs, the first text and the
    second are changed in turn. The new text may mean something else: its label is the teacher's.

    Args:
        contents: Training texts or pairs.
        settings: How many, how strongly they differ, and the encoder that proposes words.
        seed: Equal seeds give equal variants of a content, whatever the other contents.

    Raises:
        CheckpointError: If there is no such encoder; see ``WordProposer``.
        MissingExtraError: If jieba is not installed.
    """
    proposer = WordProposer(resolve_model(settings.encoder))
    return (_variants(content, proposer, settings, seed) for content in contents)


def _variants(
    content: Content, proposer: WordProposer, settings: WordReplacement, seed: int
) -> list[Content]:
    places = {text: proposer(text, settings.candidates) for text in sides_of(content)}

    def change(text: str, rng: random.Random) -> str:
        parts, start = [], 0
        for place in places[text]:
            if rng.random() < settings.share:
                parts += [text[start : place.start], rng.choice(place.candidates)]
                start = place.end
        return "".join([*parts, text[start:]])

    return distinct_variants(content, [change] * 2, _TURNS, settings.variants, seed)


def _lexicons(tokenizer: Tokenizer) -> dict[int, _Lexicon]:
    """Return the words of jieba's dictionary whose characters are tokens, by length."""
    segmenter("jieba")  # says what is missing, and keeps jieba quiet
    import jieba  # noqa: PLC0415  (an extra)

    jieba.initialize()
    ids = _character_ids(tokenizer, {character for word in jieba.dt.FREQ for character in word})
    spelled: defaultdict[int, list[tuple[str, tuple[int, ...]]]] = defaultdict(list)
    for word, count in jieba.dt.FREQ.items():
        if count >= _COMMON and all(character in ids for character in word):
            spelled[len(word)].append((word, tuple(ids[character] for character in word)))
    return {
        length: _lexicon(words, [float(jieba.dt.FREQ[word]) for word, _ in words])
        for length, words in spelled.items()
    }


def _character_ids(tokenizer: Tokenizer, characters: set[str]) -> dict[str, int]:
    """Return the ids of the Chinese characters that are tokens.

    A traditional character that is read as a simplified one is none.
    """
    chinese = sorted(filter(is_chinese, characters))
    encoded = zip(chinese, tokenizer.encode_batch(chinese), strict=True)
    return {
        character: encoding.ids[0]
        for character, encoding in encoded
        if len(encoding) == 1 and tokenizer.text(encoding.ids) == character
    }


def _lexicon(words: Sequence[tuple[str, tuple[int, ...]]], counts: Sequence[float]) -> _Lexicon:
    ids = torch.tensor([word_ids for _, word_ids in words])
    shares = torch.tensor(counts, dtype=torch.float64)
    shares /= shares.sum()
    together = shares.log()
    for column in ids.T:
        together -= torch.bincount(column, weights=shares)[column].log()
    numbers = {word_ids: number for number, (_, word_ids) in enumerate(words)}
    return _Lexicon([word for word, _ in words], ids, together.float(), numbers)
