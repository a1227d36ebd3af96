"""WordPiece vocabulary for Chinese from counts of a corpus, and its coverage of a text.

A character can have two rows: a plain one, at the start of a word, and one with ``##``, inside a
word. Chinese characters and punctuation are always single words, so they have no ``##`` row;
letters, digits and symbols (``30℃``, ``😂😂``) need both.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from corpora_tools.counting import CorpusCounts
from zh_albert.tokenization.characters import is_chinese
from zh_albert.tokenization.vocab import SPECIAL_TOKENS, UNKNOWN
from zh_albert.tokenization.wordpiece import CONTINUATION, WordPieceTokenizer

# Rows that a Chinese vocabulary needs, however rare they are in one corpus.
_MARKS = "、。，；：？！“”‘’（）《》〈〉「」『』【】〔〕〖〗—…·～–―•‖〇￥" + string.punctuation
_SYMBOLS = "℃°№①②③④⑤⑥⑦⑧⑨⑩×÷±→←↑↓≥≤≈√∞‰㎡★☆●○◎◆◇■□▲△▼▽♥♪€£©®™"
_EMOJI = (
    "😂🤣😭😊😄😁😍😘🥰😅😆😉😎😏😒😓😔😞😢😡😠😱😳🤔🙄😴😷🙏👍👎👏💪👌✌👉❤💔🌹🌸🎉🎂🔥✨🐶🍺☀🌙💩"
)
_LATIN_WORD = re.compile("[a-z]+")
_FIRST_UNUSED = 16  # rows for users' own tokens, always at the same ids
_MULTIPLE = 64  # of which the number of rows is a multiple, for fast matrix products


def build_rows(
    counts: CorpusCounts, *, min_count: int = 20, latin_pieces: int = 1_200
) -> dict[str, list[str]]:
    """Return the vocabulary's rows; the same counts give the same rows in the same order.

    Args:
        counts: Counts of the corpus.
        min_count: Minimum count of a character, unless it is in GB 2312 or in the lists above; the
            two kinds of row are counted separately.
        latin_pieces: Number of pieces trained on the corpus's Latin words.

    Returns:
        Class → rows, in the order of the file: by class, then by frequency.
    """
    digits = [mark + digit for mark in ("", CONTINUATION) for digit in string.digits]
    rows = {
        "special": [*SPECIAL_TOKENS, *(f"[unused{i}]" for i in range(_FIRST_UNUSED))],
        "chinese": _chinese_rows(counts.characters, min_count),
        "punctuation": [],
        "digits": digits,
        "latin": _latin_rows(counts, latin_pieces),
        "other": [],
    }
    taken = {row for chosen in rows.values() for row in chosen}
    for row in _character_rows(counts, min_count):
        if row not in taken:
            rows["punctuation" if _stands_alone(row) else "other"].append(row)
    filled = sum(map(len, rows.values()))
    free = -filled % _MULTIPLE
    rows["unused"] = [f"[unused{i}]" for i in range(_FIRST_UNUSED, _FIRST_UNUSED + free)]
    return rows


def gb2312_characters() -> set[str]:
    """Return the 6,763 Chinese characters of GB 2312, the common simplified ones."""
    rows = range(0xB0, 0xF8)
    cells = range(0xA1, 0xFF)
    decoded = (bytes((row, cell)).decode("gb2312", "ignore") for row in rows for cell in cells)
    return {character for character in decoded if character}


@dataclass(frozen=True)
class Coverage:
    """Coverage of a text by a tokenizer, in characters without spaces."""

    characters: int = 0
    unknown: int = 0  # part of an [UNK]
    dropped: int = 0  # part of no token: controls and the like

    @property
    def share(self) -> float:
        """Fraction of characters not part of an ``[UNK]``; 1.0 for an empty text."""
        return 1 - self.unknown / self.characters if self.characters else 1.0

    def __add__(self, other: Coverage) -> Coverage:
        return Coverage(
            self.characters + other.characters,
            self.unknown + other.unknown,
            self.dropped + other.dropped,
        )


def measure_coverage(tokenizer: WordPieceTokenizer, texts: Iterable[str]) -> Coverage:
    """Return the coverage of texts by a tokenizer."""
    total = Coverage()
    for text in texts:
        encoding = tokenizer.encode(text)
        characters = sum(not character.isspace() for character in text)
        unknown = covered = done = 0
        for token_id, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
            new = end - max(start, done)  # tokens may share a character
            covered += new
            unknown += new if token_id == tokenizer.special.unk else 0
            done = end
        total += Coverage(characters, unknown, characters - covered)
    return total


def _chinese_rows(characters: Mapping[str, int], min_count: int) -> list[str]:
    frequent = {c for c, n in characters.items() if n >= min_count and is_chinese(c)}
    return _by_frequency({c: characters.get(c, 0) for c in frequent | gb2312_characters()})


def _character_rows(counts: CorpusCounts, min_count: int) -> list[str]:
    """Return rows for all characters that are not Chinese, Latin letters or digits."""
    seen: Counter[str] = Counter()
    for character, times in counts.characters.items():
        seen[character] += times
    for word, times in counts.words.items():
        for place, character in enumerate(word):
            seen[CONTINUATION + character if place else character] += times
    wanted = set(_MARKS + _SYMBOLS + _EMOJI)
    wanted |= {CONTINUATION + c for c in wanted if not _stands_alone(c)}
    wanted |= {row for row, times in seen.items() if times >= min_count}
    return _by_frequency({row: seen[row] for row in wanted if not is_chinese(row[-1])})


def _latin_rows(counts: CorpusCounts, size: int) -> list[str]:
    """Return pieces trained on Latin words, ordered by their frequency in these words."""
    words: Counter[str] = Counter()
    for source in (counts.words, counts.characters):
        for word, times in source.items():
            for part in _LATIN_WORD.findall(word):
                words[part] += times
    trained = Tokenizer(models.WordPiece({}, unk_token=UNKNOWN))
    trained.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        min_frequency=2,
        initial_alphabet=list(string.ascii_lowercase),
        continuing_subword_prefix=CONTINUATION,
        show_progress=False,
    )
    trained.train_from_iterator((" ".join([w] * n) for w, n in sorted(words.items())), trainer)
    # The library orders equally frequent pieces differently in each run; the set is the same.
    letters = string.ascii_lowercase
    uses = Counter(dict.fromkeys([*letters, *(CONTINUATION + c for c in letters)], 0))
    uses.update(dict.fromkeys(trained.get_vocab(), 0))
    for word, times in words.items():
        for piece in trained.encode(word).tokens:
            if piece in uses:
                uses[piece] += times
    return _by_frequency(uses)


def _stands_alone(row: str) -> bool:
    normalize = normalizers.BertNormalizer(lowercase=True).normalize_str
    split = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    return [word for word, _ in split(normalize(f"a{row}a"))] == ["a", row, "a"]


def _by_frequency(times: Mapping[str, int]) -> list[str]:
    return sorted(times, key=lambda row: (-times[row], row))
