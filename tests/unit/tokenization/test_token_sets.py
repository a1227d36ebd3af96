"""Which rows stand in for a masked token."""

from __future__ import annotations

import pytest

from zh_albert.errors import ConfigError
from zh_albert.tokenization.token_sets import TokenSets
from zh_albert.tokenization.vocab import SPECIAL_TOKENS, Vocabulary
from zh_albert.tokenization.wordpiece import WordPieceTokenizer


def test_rows_that_no_text_becomes_are_no_replacements() -> None:
    rows = [*SPECIAL_TOKENS, "[unused0]", "[unused17]", "好", "##好", "a", "##a", "[", "]", "<s>"]
    sets = TokenSets.of(WordPieceTokenizer(Vocabulary(rows)))

    assert [rows[token_id] for token_id in sets.plain] == ["好", "a", "##a", "[", "]"]
    with pytest.raises(ConfigError, match="only special and unused"):
        TokenSets.of(WordPieceTokenizer(Vocabulary(rows[:6])))


def test_a_vocabulary_may_have_more_rows_than_16_bits_number() -> None:
    rows = [*SPECIAL_TOKENS, *(f"w{i}" for i in range(1 << 16))]
    sets = TokenSets.of(WordPieceTokenizer(Vocabulary(rows)))

    assert sets.plain[-1] == len(rows) - 1
