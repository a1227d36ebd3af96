"""A teacher's word vectors over our vocabulary: a row for each of our tokens."""

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

_FEWEST = 0.5  # of our Chinese characters that a teacher has to know


class OurRows(NamedTuple):
    """Word vectors for our vocabulary, and how well it is known."""

    words: Tensor
    """Shape: (our vocab, hidden)."""
    known: int
    """Tokens with a vector of their own."""
    put_together: int
    """Tokens whose vector is the mean of several pieces' vectors."""
    unknown: list[str]
    """Tokens that got the vector of the teacher's unknown token."""


def our_rows(teacher: ForeignEncoder, tokens: Sequence[str]) -> OurRows:
    """Give each token of ours the teacher's vector: of the same piece, of its NFKC form, or the
    mean over the pieces that the teacher would cut it into.

    Raises:
        CheckpointError: If the teacher lacks most Chinese characters.
    """
    found = [_rows_of(teacher, token) for token in tokens]
    words = torch.stack([teacher.words[rows].mean(0) for rows in found])
    nothing = [teacher.special["[UNK]"]]
    pairs = zip(tokens, found, strict=True)
    unknown = [name for name, rows in pairs if rows == nothing and name not in teacher.special]
    chinese = [token for token in tokens if len(token) == 1 and is_chinese(token)]
    missing = [token for token in unknown if len(token) == 1 and is_chinese(token)]
    if len(missing) > (1 - _FEWEST) * len(chinese):
        raise CheckpointError(
            f"{teacher.name}: its vocabulary lacks {len(missing):,} of our {len(chinese):,} "
            f"Chinese characters ({''.join(missing[:10])} …); expected a teacher that reads "
            "Chinese: choose another one"
        )
    single = sum(len(rows) == 1 for rows in found) - len(unknown)
    return OurRows(words, single, len(found) - single - len(unknown), unknown)


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
    """Return the names a token may have in the teacher's vocabulary, the best first."""
    if teacher.scores is None:
        return [form] if begins else [CONTINUATION + form, form]
    # A Chinese character mostly stands inside a run, where no piece begins with a space.
    inside = len(form) == 1 and not form.isascii()
    return [form, METASPACE + form] if inside or not begins else [METASPACE + form, form]
