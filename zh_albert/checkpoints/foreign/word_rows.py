"""Word vectors of a teacher for this project's vocabulary: one for each of our tokens."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from zh_albert.checkpoints.foreign.encoder import METASPACE, ForeignEncoder
from zh_albert.errors import CheckpointError
from zh_albert.tokenization.characters import is_chinese
from zh_albert.tokenization.wordpiece import CONTINUATION

_MIN_KNOWN = 0.5  # fraction of our Chinese characters that a teacher must know


class WordRows(NamedTuple):
    """Word vectors for our vocabulary, and the number of tokens that the teacher knows."""

    words: Tensor
    """Shape: (our vocab, hidden)."""
    known: int
    """Tokens with a vector of their own."""
    put_together: int
    """Tokens whose vector is the mean of several pieces' vectors."""
    unknown: list[str]
    """Tokens that have the vector of the teacher's unknown token."""


def word_rows(teacher: ForeignEncoder, tokens: Sequence[str]) -> WordRows:
    """Return the teacher's vector for each of our tokens.

    It is that of the same piece, of its NFKC form, or the mean over the pieces that the teacher
    would split it into.

    Raises:
        CheckpointError: If the teacher lacks most Chinese characters.
    """
    found = [_rows_of(teacher, token) for token in tokens]
    words = torch.stack([teacher.words[rows].mean(0) for rows in found])
    unknown_row = [teacher.special["[UNK]"]]
    pairs = zip(tokens, found, strict=True)
    unknown = [name for name, rows in pairs if rows == unknown_row and name not in teacher.special]
    chinese = [token for token in tokens if len(token) == 1 and is_chinese(token)]
    missing = [token for token in unknown if len(token) == 1 and is_chinese(token)]
    if len(missing) > (1 - _MIN_KNOWN) * len(chinese):
        raise CheckpointError(
            f"{teacher.name}: its vocabulary lacks {len(missing):,} of our {len(chinese):,} "
            f"Chinese characters ({''.join(missing[:10])} …); expected a teacher that reads "
            "Chinese: choose another one"
        )
    single = sum(len(rows) == 1 for rows in found) - len(unknown)
    return WordRows(words, single, len(found) - single - len(unknown), unknown)


def _rows_of(teacher: ForeignEncoder, token: str) -> list[int]:
    if token in teacher.special:
        return [teacher.special[token]]
    begins = not token.startswith(CONTINUATION) or token == CONTINUATION
    word = token if begins else token.removeprefix(CONTINUATION)
    forms = (word, teacher.normalized(word), unicodedata.normalize("NFKC", word))
    for form in forms:
        for piece in _pieces(teacher, form, begins=begins):
            if piece in teacher.rows:
                return [teacher.rows[piece]]
    unknown = teacher.special["[UNK]"]
    for form in forms:
        rows = [row for row in teacher.cut(form) if row != teacher.rows.get(METASPACE)]
        if rows and unknown not in rows:
            return rows
    return [unknown]


def _pieces(teacher: ForeignEncoder, form: str, *, begins: bool) -> list[str]:
    """Return the names that a token may have in the teacher's vocabulary, the most likely first."""
    if teacher.scores is None:
        return [form] if begins else [CONTINUATION + form, form]
    # Most Chinese characters are inside a run of text, where no piece starts with a space.
    inside = len(form) == 1 and not form.isascii()
    return [form, METASPACE + form] if inside or not begins else [METASPACE + form, form]
