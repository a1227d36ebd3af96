"""Bulk tokenization: texts into token ids with the starts of words, sentences and documents.

Equivalent to ``Tokenizer.encode`` and ``words.word_ranges`` text by text, and several times as
fast: a character that is always a token of its own (nearly all of Chinese text) is looked up in a
table over code points, so only English, digits and the like go through the tokenizer.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zh_albert.errors import ConfigError
from zh_albert.pretraining.ranges import joined_ranges
from zh_albert.tokenization.characters import is_chinese, is_letter, is_space, replace_surrogates
from zh_albert.tokenization.simplified import simplified
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.tokenization.wordpiece import WordPieceTokenizer
from zh_albert.tokenization.words import Cut, word_ranges

SentenceSpans = Callable[[str], Iterable[tuple[int, int]]]
"""Sentences of a text as character ranges, in order."""

BLOCK_CHARACTERS = 1 << 16  # encoded together; a longer text is cut into pieces of this size

_SEPARATOR, _OTHER, _UNSEEN = -1, -2, -3  # values of the table that are not token ids
_SPACE, _CHINESE, _LETTER = 1, 2, 4
_SEPARATORS = " \n\t\r\u3000"
_PROBE = "a"
_PROBED_CHARACTERS = 64  # encoded at once in search of a text's first token
_MAX_CACHED_RUNS = 200_000
_MARK = "\0"  # separates words
_SENTENCE_CUT = re.compile(r".*[\n。！？!?]", re.DOTALL)
_WORD_CUT = re.compile(r".*[\s，、；：,;\u4e00-\u9fff]", re.DOTALL)


class Block(NamedTuple):
    """Tokens of several texts, concatenated.

    Shapes: ``token_ids`` and ``word_starts`` (tokens,); ``sentences`` and ``documents`` hold the
    index of the first token of each. Texts without a token are left out. A block that continues the
    last text of the block before has no document start for it.
    """

    token_ids: NDArray[np.uint16]
    word_starts: NDArray[np.bool_]
    sentences: NDArray[np.int64]
    documents: NDArray[np.int64]
    characters: int


class _Piece(NamedTuple):
    text: str
    begins_document: bool
    begins_sentence: bool


class BlockEncoder:
    """Encoder of texts into blocks of tokens.

    Args:
        tokenizer: With at most 65,536 ids. Only the WordPiece tokenizer uses the fast path.
        cut: Of a ``words.Segmenter``.
        spans: Finds sentences.

    Raises:
        ConfigError: If the vocabulary does not fit into 16 bits.
    """

    def __init__(self, tokenizer: Tokenizer, cut: Cut, spans: SentenceSpans) -> None:
        if tokenizer.vocab_size > 1 << 16:
            raise ConfigError(
                f"shards hold ids of 16 bits: expected a vocabulary of at most {1 << 16} rows, "
                f"found {tokenizer.vocab_size}"
            )
        self._tokenizer, self._cut, self._spans = tokenizer, cut, spans
        self._fast = isinstance(tokenizer, WordPieceTokenizer)
        self._simplifies = isinstance(tokenizer, WordPieceTokenizer) and tokenizer.simplify
        self._table = np.full(0x110000, _UNSEEN, np.int32)
        self._kinds = np.zeros(0x110000, np.uint8)
        self._runs: dict[str, tuple[list[int], list[tuple[int, int]]]] = {}
        # An unknown word in parts would hide that its characters join in others.
        self._prober = (
            tokenizer.with_whole_words() if isinstance(tokenizer, WordPieceTokenizer) else tokenizer
        )
        self._probe = self._prober.encode(_PROBE).ids

    def blocks(self, texts: Iterable[str]) -> Iterator[Block]:
        """Encode texts in order; each block holds about ``BLOCK_CHARACTERS``, so memory is bounded.

        A longer text is cut after a line or a sentence, else between words, else where the piece is
        full.
        """
        waiting: list[_Piece] = []
        size = 0
        for piece in itertools.chain.from_iterable(map(self._pieces, texts)):
            if waiting and size + len(piece.text) > BLOCK_CHARACTERS:
                yield self._encode(waiting)
                waiting, size = [], 0
            waiting.append(piece)
            size += len(piece.text)
        if waiting:
            yield self._encode(waiting)

    def _pieces(self, text: str) -> Iterator[_Piece]:
        if len(text) > BLOCK_CHARACTERS:
            # A piece without a token would take the document's start with it.
            text = text[self._first_token(text) :]
        start, sentence = 0, True
        while len(text) - start > BLOCK_CHARACTERS:
            window = text[start : start + BLOCK_CHARACTERS]
            good = _SENTENCE_CUT.match(window)
            place = good or _WORD_CUT.match(window)
            end = start + (place.end() if place else BLOCK_CHARACTERS)
            yield _Piece(text[start:end], start == 0, sentence)
            start, sentence = end, good is not None
        yield _Piece(text[start:], start == 0, sentence)

    def _first_token(self, text: str) -> int:
        """Return where the first token begins, behind blanks and controls; the end, if nowhere."""
        for start in range(0, len(text), _PROBED_CHARACTERS):
            window = text[start : start + _PROBED_CHARACTERS]
            if offsets := self._tokenizer.encode(window).offsets:
                return start + offsets[0][0]
        return len(text)

    def _encode(self, pieces: Sequence[_Piece]) -> Block:
        joined = "\n".join(piece.text for piece in pieces)
        read, codes = joined, code_points(joined)
        if self._simplifies:  # piece by piece, as the tokenizer does
            read = "\n".join(simplified(piece.text) for piece in pieces)
            self._look_up_unseen(code_points(read))
        lengths = np.array([len(piece.text) + 1 for piece in pieces])
        firsts = np.concatenate([[0], np.cumsum(lengths)])
        self._look_up_unseen(codes)
        if self._fast:
            ids, begins, ends = self._tokens(read, code_points(read))
            word_starts = self._word_starts(joined, codes, begins, ends)
        else:
            ids, begins, ends, word_starts = self._slow_tokens(pieces, firsts)
        bounds = np.searchsorted(begins, firsts)  # of each piece, in tokens
        begun = [
            first + start
            for piece, first in zip(pieces, firsts.tolist(), strict=False)
            for start, _ in self._spans(piece.text)
        ]
        before = np.cumsum(np.bincount(begun, minlength=len(codes)))
        sentences = np.ones(len(ids), np.bool_)
        sentences[1:] = before[begins[1:]] > before[begins[:-1]]
        used = bounds[1:] > bounds[:-1]
        for first in bounds[:-1][used & [not piece.begins_sentence for piece in pieces]]:
            sentences[first] = False
        documents = bounds[:-1][used & [piece.begins_document for piece in pieces]]
        word_starts |= sentences
        return Block(
            token_ids=ids.astype(np.uint16),
            word_starts=word_starts,
            sentences=np.flatnonzero(sentences),
            documents=documents,
            characters=int(lengths.sum()) - len(pieces),
        )

    def _slow_tokens(
        self, pieces: Sequence[_Piece], firsts: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Return ids, offsets and word starts as ``_tokens`` and ``_word_starts`` do, for any
        tokenizer.
        """
        ids: list[int] = []
        offsets: list[tuple[int, int]] = []
        words: list[int] = []
        for piece, first in zip(pieces, firsts.tolist(), strict=False):
            encoding = self._tokenizer.encode(piece.text)
            ranges = word_ranges(piece.text, encoding.offsets, self._cut)
            words += [len(ids) + word.start for word in ranges]
            ids += encoding.ids
            offsets += [(first + start, first + end) for start, end in encoding.offsets]
        places = np.array(offsets, np.int64).reshape(-1, 2)
        word_starts = np.zeros(len(ids), np.bool_)
        word_starts[words] = True
        return np.array(ids, np.int64), places[:, 0], places[:, 1], word_starts

    def _tokens(
        self, text: str, codes: NDArray[np.uint32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return ids and half-open offsets of the text's tokens. Shape of each: (tokens,)."""
        values = self._table[codes]
        counts = (values >= 0).astype(np.int64)  # tokens that start at each character
        lone = np.flatnonzero(counts)
        edges = np.diff((values == _OTHER).astype(np.int8), prepend=0, append=0)
        run_starts, run_ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
        found = [
            self._run(text[start:end])
            for start, end in zip(run_starts.tolist(), run_ends.tolist(), strict=True)
        ]
        run_counts = np.fromiter((len(ids) for ids, _ in found), np.int64, len(found))
        counts[run_starts] = run_counts
        after = np.cumsum(counts)
        total = int(after[-1]) if len(after) else 0
        ids = np.empty(total, np.int64)
        begins, ends = np.empty(total, np.int64), np.empty(total, np.int64)
        slots = after[lone] - 1
        ids[slots], begins[slots], ends[slots] = values[lone], lone, lone + 1
        if found:
            offsets = list(itertools.chain.from_iterable(offsets for _, offsets in found))
            within = np.array(offsets, np.int64).reshape(-1, 2)
            slots = joined_ranges(after[run_starts] - run_counts, run_counts)
            base = np.repeat(run_starts, run_counts)
            ids[slots] = list(itertools.chain.from_iterable(ids for ids, _ in found))
            begins[slots], ends[slots] = base + within[:, 0], base + within[:, 1]
        return ids, begins, ends

    def _run(self, run: str) -> tuple[list[int], list[tuple[int, int]]]:
        known = self._runs.get(run)
        if known is None:
            encoding = self._tokenizer.encode(run)
            known = (encoding.ids, encoding.offsets)
            if len(self._runs) >= _MAX_CACHED_RUNS:
                self._runs.clear()
            self._runs[run] = known
        return known

    def _look_up_unseen(self, codes: NDArray[np.uint32]) -> None:
        for code in np.unique(codes[self._table[codes] == _UNSEEN]).tolist():
            character = chr(code)
            if self._fast:
                separator = character in _SEPARATORS
                self._table[code] = _SEPARATOR if separator else self._lone_id(character)
            else:
                self._table[code] = _OTHER
            self._kinds[code] = (
                _SPACE * is_space(character)
                + _CHINESE * is_chinese(character)
                + _LETTER * is_letter(character)
            )

    def _lone_id(self, character: str) -> int:
        """Return the id of a character if it is a token of its own in any context, else
        ``_OTHER``.
        """
        probe = self._prober.encode(f"{_PROBE}{character}{_PROBE}")
        alone = self._tokenizer.encode(character)
        if probe.ids == [*self._probe, *alone.ids, *self._probe] and probe.offsets == [
            (0, 1),
            (1, 2),
            (2, 3),
        ]:
            # Unknown signs side by side are one token.
            return alone.ids[0] if alone.ids[0] != self._tokenizer.special.unk else _OTHER
        return _OTHER

    def _word_starts(
        self,
        text: str,
        codes: NDArray[np.uint32],
        begins: NDArray[np.int64],
        ends: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Mark the first token of each word, by the rules of ``words.word_ranges``. Shape:
        (tokens,).
        """
        starts = np.zeros(len(begins), np.bool_)
        if not len(begins):
            return starts
        starts[0] = True
        boundaries = np.zeros(len(codes) + 1, np.int32)  # 1 where the segmenter ends a word
        boundaries[_word_ends(self._cut, text)] = 1
        left, right = ends[:-1], begins[1:]  # borders of each gap between two tokens
        kinds = self._kinds[codes]
        chinese, letters = (kinds & _CHINESE) > 0, (kinds & _LETTER) > 0
        beside = chinese[left - 1] | chinese[right]
        new = np.where(beside, boundaries[right] > 0, ~(letters[left - 1] & letters[right]))
        gaps = np.flatnonzero(left != right)
        if len(gaps):
            spaces = np.concatenate([[0], np.cumsum((kinds & _SPACE) > 0)])
            before = np.concatenate([[0], np.cumsum(boundaries)])
            a, b = left[gaps], right[gaps]
            b_safe = np.maximum(a, b)
            new[gaps] |= beside[gaps] & (before[b_safe + 1] > before[a])
            new[gaps] |= spaces[b_safe] > spaces[a]
            new[gaps] &= b >= a
        starts[1:] = new
        return starts


def code_points(text: str) -> NDArray[np.uint32]:
    """Return the text's code points, including lone surrogates. Shape: (characters,)."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _word_ends(cut: Cut, text: str) -> NDArray[np.int64]:
    """Return the ends of the segmenter's words, in characters."""
    text = replace_surrogates(text).replace(_MARK, "\ufffd")
    marked = code_points(_MARK.join(cut(text)))
    places = np.flatnonzero(marked == ord(_MARK))
    return np.append(places - np.arange(len(places)), len(text))
