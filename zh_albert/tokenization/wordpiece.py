"""BERT's Chinese WordPiece with offsets into the user's own string.

The ``tokenizers`` library defines every token. This module adds a fast path for the bulk of Chinese
text: a character that is always a word of its own (a Chinese character, a punctuation mark) has its
id in a table, so only the runs between them (English, digits, emoji and the like) go through the
library, and its results for short runs are cached.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import models, normalizers, pre_tokenizers

from zh_albert.errors import ConfigError
from zh_albert.tokenization.characters import fold_width as folded
from zh_albert.tokenization.characters import is_letter, replace_surrogates
from zh_albert.tokenization.encoding import Encoding, SpecialIds
from zh_albert.tokenization.settings import CONFIG_NAME, flag, write_settings
from zh_albert.tokenization.simplified import simplified
from zh_albert.tokenization.vocab import FILE_NAME, SPECIAL_TOKENS, UNKNOWN, Vocabulary

CONTINUATION = "##"  # prefix of a piece that does not start a word

_SEPARATORS = " \n\t\r\u3000"  # the common ones; the library handles the others
_MAX_CACHED_RUNS = 50_000
_MAX_CACHED_CHARACTERS = 24  # of one run; longer ones rarely recur


class WordPieceTokenizer:
    """Text to token ids and offsets; the same ids as BERT's own tokenizer.

    Text is never read as a special token: a typed ``[MASK]`` is a bracket, a word and a bracket.

    Args:
        vocabulary: Used as it is.
        lowercase: Convert to lower case and strip accents, as uncased BERT does.
        strip_accents: Whether to strip accents; None: if ``lowercase``.
        fold_width: Convert full-width letters, digits and symbols to ASCII. For our own vocabulary,
            which has no full-width rows; published ones have them and were trained on them.
        simplify: Read traditional characters as simplified ones; see ``simplified``.
        split_unknown: Make a sign that the vocabulary lacks a token of its own: 💯 in ``yyds💯``.
            BERT's own tokenizer makes the whole word one ``[UNK]``.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        lowercase: bool = True,
        strip_accents: bool | None = None,
        fold_width: bool = False,
        simplify: bool = False,
        split_unknown: bool = False,
    ) -> None:
        self.vocabulary = vocabulary
        self.lowercase = lowercase
        self.strip_accents = lowercase if strip_accents is None else strip_accents
        self.fold_width, self.simplify, self.split_unknown = fold_width, simplify, split_unknown
        self._library = tokenizers.Tokenizer(
            models.WordPiece(
                vocabulary.ids, unk_token=UNKNOWN, continuing_subword_prefix=CONTINUATION
            )
        )
        # No special token is registered with the library: it would search for them in the text.
        self._library.normalizer = normalizers.BertNormalizer(
            lowercase=lowercase, strip_accents=self.strip_accents
        )
        self._library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        self._lone = {c: vocabulary.ids[c] for c in self._lone_characters()}
        self._stretches = _stretch_pattern(self._lone)
        self._runs: dict[str, tuple[list[int], list[tuple[int, int]]]] = {}

    @property
    def special(self) -> SpecialIds:
        """Ids of the special tokens."""
        return self.vocabulary.special

    @property
    def vocab_size(self) -> int:
        """Number of ids."""
        return len(self.vocabulary)

    def encode(self, text: str) -> Encoding:
        """Tokenize one text; no special tokens are added. An empty text has none.

        Characters that normalization drops (controls, U+FFFD, spaces) belong to no token. A word
        with an unknown character (see ``split_unknown``), or of more than 100 characters, is one
        ``[UNK]``.
        """
        if self.fold_width:
            text = folded(text)
        if self.simplify:
            text = simplified(text)
        ids: list[int] = []
        offsets: list[tuple[int, int]] = []
        for stretch in self._stretches.finditer(text):
            start, end = stretch.span()
            if stretch.lastindex:
                ids += map(self._lone.__getitem__, stretch[0])
                offsets += zip(range(start, end), range(start + 1, end + 1), strict=True)
            else:
                run_ids, run_offsets = self._encode_run(stretch[0])
                ids += run_ids
                offsets += [(start + a, start + b) for a, b in run_offsets]
        return Encoding(ids, offsets)

    def encode_batch(self, texts: Iterable[str]) -> list[Encoding]:
        """Tokenize several texts, in order."""
        return [self.encode(text) for text in texts]

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Return the vocabulary rows of ``ids``."""
        return [self.vocabulary.tokens[token_id] for token_id in ids]

    def text(self, ids: Sequence[int]) -> str:
        """Return the text of ``ids``: spaces between words of letters only."""
        spelled = ""
        for row in self.tokens(ids):
            piece = row.removeprefix(CONTINUATION) or row
            apart = piece == row and is_letter(spelled[-1:] or " ") and is_letter(row[0])
            spelled += f" {piece}" if apart else piece
        return spelled

    def to_config(self) -> dict[str, Any]:
        """Return the settings as ``transformers`` names them; the last three are ours."""
        return {
            "do_lower_case": self.lowercase,
            "strip_accents": self.strip_accents,
            "tokenize_chinese_chars": True,
            "fold_width": self.fold_width,
            "simplify": self.simplify,
            "split_unknown": self.split_unknown,
        }

    @classmethod
    def from_config(
        cls, vocabulary: Vocabulary, config: Mapping[str, Any], *, source: Path | str = CONFIG_NAME
    ) -> WordPieceTokenizer:
        """Return a tokenizer with the settings from ``to_config``, or from a published file.

        Raises:
            ConfigError: If a setting has the wrong type, or is not supported (no split of Chinese
                characters).
        """
        if not flag(config, "tokenize_chinese_chars", True, source=source):
            problem = "tokenize_chinese_chars must be true, found false"
            raise ConfigError(f"{source}: {problem}; this library splits Chinese into characters")
        lowercase = flag(config, "do_lower_case", True, source=source)
        return cls(
            vocabulary,
            lowercase=lowercase,
            strip_accents=flag(config, "strip_accents", lowercase, source=source),
            fold_width=flag(config, "fold_width", False, source=source),
            simplify=flag(config, "simplify", False, source=source),
            split_unknown=flag(config, "split_unknown", False, source=source),
        )

    def simplifying(self) -> WordPieceTokenizer:
        """Return the same tokenizer with ``simplify``."""
        return self.from_config(self.vocabulary, self.to_config() | {"simplify": True})

    def with_whole_words(self) -> WordPieceTokenizer:
        """Return the same tokenizer without ``split_unknown``."""
        same = copy(self)
        same.split_unknown, same._runs = False, {}
        return same

    def save_files(self, *, max_tokens: int = 512) -> dict[str, bytes]:
        """Return the files of a model folder, by name; ``transformers`` opens them too.

        ``transformers`` knows none of our own settings: full-width letters, traditional characters
        and words with an unknown sign differ there.

        Args:
            max_tokens: The model's window, special tokens included.
        """
        names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
        config = {
            "tokenizer_class": "BertTokenizer",
            "model_max_length": max_tokens,
            **dict(zip(names, SPECIAL_TOKENS, strict=True)),
            **self.to_config(),
        }
        return {FILE_NAME: self.vocabulary.to_bytes(), CONFIG_NAME: write_settings(config)}

    def _encode_run(self, run: str) -> tuple[list[int], list[tuple[int, int]]]:
        known = self._runs.get(run)
        if known is not None:
            return known
        result = self._encode_by_library(run)
        if self.split_unknown and self.special.unk in result[0]:
            result = self._with_signs_apart(run, *result)
        if len(run) <= _MAX_CACHED_CHARACTERS:
            if len(self._runs) >= _MAX_CACHED_RUNS:
                self._runs.clear()
            self._runs[run] = result
        return result

    def _encode_by_library(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        encoded = self._library.encode(replace_surrogates(text), add_special_tokens=False)
        return encoded.ids, encoded.offsets

    def _with_signs_apart(
        self, run: str, ids: list[int], offsets: list[tuple[int, int]]
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Encode each unknown word in parts, so that a sign takes no neighbour along."""
        new_ids: list[int] = []
        new_offsets: list[tuple[int, int]] = []
        for token, (first, end) in zip(ids, offsets, strict=True):
            if token != self.special.unk:
                new_ids.append(token)
                new_offsets.append((first, end))
                continue
            start = first
            for part in self._parts(run[first:end]):
                part_ids, part_offsets = self._encode_by_library(part)
                new_ids += part_ids
                new_offsets += [(start + a, start + b) for a, b in part_offsets]
                start += len(part)
        return new_ids, new_offsets

    def _parts(self, word: str) -> list[str]:
        """Split an unknown word: letters, each sign that has a row, each group of other signs."""
        parts: list[str] = []
        before = ""
        for character in word:
            kind = self._kind_of(character)
            if parts and (kind in ("", before) and kind != "sign"):
                parts[-1] += character
            else:
                parts.append(character)
            before = kind or before
        return parts

    def _kind_of(self, character: str) -> str:
        """Return "letter" if words are spelled with it, "sign" if it has only a row of its own, or
        "other"; empty if normalization drops it.
        """
        normal = self._library.normalizer.normalize_str(replace_surrogates(character))
        rows = self.vocabulary.ids
        if not normal:
            return ""
        if not all(c in rows for c in normal):
            return "other"
        return "letter" if all(f"{CONTINUATION}{c}" in rows for c in normal) else "sign"

    def _lone_characters(self) -> Iterable[str]:
        """Yield the rows that the library never changes and never joins to a neighbour.

        They are found by running the library, so its Unicode tables apply, not Python's.
        """
        normalize = self._library.normalizer.normalize_str
        split = self._library.pre_tokenizer.pre_tokenize_str
        letters = set(string.ascii_letters + string.digits)
        for token in self.vocabulary.tokens:
            if len(token) == 1 and token not in letters:
                words = [word for word, _ in split(normalize(f"a{token}a"))]
                if words == ["a", token, "a"]:
                    yield token


def _stretch_pattern(lone: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for stretches of lone characters (group 1) and runs of others, no
    separators.
    """
    chosen = re.escape("".join(lone))
    other = f"[^{chosen}{_SEPARATORS}]+"
    return re.compile(f"([{chosen}]+)|{other}" if chosen else other)
