"""Words in one of two vocabularies: whole words, the same characters, the rate, chosen rows."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zh_albert.compression.dual_vocabulary import DualVocabulary, chosen_rows
from zh_albert.errors import ConfigError
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.tokenization.vocab import SPECIAL_TOKENS, Vocabulary, default_vocabulary
from zh_albert.tokenization.wordpiece import WordPieceTokenizer
from zh_albert.tokenization.words import segmenter

ROWS = len(default_vocabulary())
LETTERS = [prefix + letter for letter in "abcdefghijklmnopqrstuvwxyz" for prefix in ("", "##")]
TEXTS = st.text(
    st.sampled_from("今天天气不错我们去公园 ab模型model，。😂\u200b\x00é３Ａ"), max_size=30
)


@pytest.fixture(scope="module")
def dual() -> DualVocabulary:
    """Return a student that spells English by letters and knows few characters."""
    student = WordPieceTokenizer(
        Vocabulary([*SPECIAL_TOKENS, *"今天气我们去公园，。", *LETTERS]), fold_width=True
    )
    return DualVocabulary(default_tokenizer(), student, segmenter().cut)


def covered(offsets: list[tuple[int, int]]) -> set[int]:
    return {place for start, end in offsets for place in range(start, end)}


@given(text=TEXTS, seed=st.integers(0, 99))
def test_none_or_all_words_are_the_student_s(dual, text, seed):
    rng = random.Random(seed)
    student = dual.student.encode(text)

    assert dual.encode(text, 0, rng) == dual.teacher.encode(text)
    every = dual.encode(text, 1, rng)
    assert every.ids == [ROWS + token for token in student.ids]
    assert every.offsets == student.offsets


@given(text=TEXTS, seed=st.integers(0, 99))
def test_both_segmentations_cover_the_same_characters(dual, text, seed):
    encoding = dual.encode(text, 0.5, random.Random(seed))

    assert covered(encoding.offsets) == covered(dual.teacher.encode(text).offsets)
    assert encoding.offsets == sorted(encoding.offsets)
    assert all(0 <= token < dual.vocab_size for token in encoding.ids)


def test_a_word_is_never_mixed(dual):
    text = "今天model天气，我们today去公园"
    whole = {"今天", "model", "天气", "，", "我们", "today", "去", "公园"}

    for seed in range(50):
        encoding = dual.encode(text, 0.5, random.Random(seed))
        by: dict[bool, set[int]] = {False: set(), True: set()}
        for token, offset in zip(encoding.ids, encoding.offsets, strict=True):
            by[token >= ROWS] |= covered([offset])
        for word in whole:
            start = text.index(word)
            places = {*range(start, start + len(word))}
            assert places <= by[True] or places <= by[False], word


def test_words_are_the_student_s_at_their_rate(dual):
    encoding = dual.encode("，".join(["我们"] * 10_000), 0.3, random.Random(1))

    mine = sum(token >= ROWS for token in encoding.ids[::3])
    assert abs(mine - 3000) <= 3 * math.sqrt(10_000 * 0.3 * 0.7)


def test_special_tokens_are_the_teacher_s(dual):
    assert dual.special == dual.teacher.special
    assert dual.vocab_size == ROWS + dual.student.vocab_size
    assert dual.encode("", 0.5, random.Random(1)).ids == []
    assert dual.encode(" \ud800", 0.5, random.Random(1)).ids == []


def test_characters_that_one_tokenizer_drops_go_with_a_neighbour():
    accents = WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, *"中国", "\u0301"]), lowercase=False)
    dual = DualVocabulary(WordPieceTokenizer(accents.vocabulary), accents, list)

    for text in ("\u0301中国", "中\u0301国", "中国\u0301"):
        for share in (0, 1):
            one = (dual.teacher, dual.student)[share].encode(text)
            assert dual.encode(text, share, random.Random(1)).offsets == one.offsets


@pytest.mark.slow
def test_frequent_rows_are_chosen_after_those_that_spell():
    vocabulary = default_vocabulary()
    counts = [1 + row % 97 for row in range(len(vocabulary))]

    rows = chosen_rows(vocabulary, counts, 4000)

    student = Vocabulary(vocabulary.tokens[row] for row in rows)
    assert len(rows) == len({*rows}) == 4000
    assert rows == sorted(rows)
    assert "[UNK]" not in WordPieceTokenizer(student).tokens(
        WordPieceTokenizer(student).encode("Zyxwvq 90817").ids
    )
    left_out = [row for row in range(len(vocabulary)) if row not in {*rows}]
    assert max(counts[row] for row in left_out) <= sorted(counts)[-3900]


@pytest.mark.parametrize(
    ("counts", "size", "message"),
    [
        ([1] * 8, 7, "a count for each of the vocabulary's 7 rows, found 8"),
        ([1] * 7, 8, "size must be from 6 .* to 7, the teacher's rows; got 8"),
        ([1] * 7, 5, "got 5"),
    ],
)
def test_bad_sizes_are_refused(counts, size, message):
    with pytest.raises(ConfigError, match=message):
        chosen_rows(Vocabulary([*SPECIAL_TOKENS, "中", "##b"]), counts, size)


def test_a_bad_share_is_refused(dual):
    with pytest.raises(ConfigError, match="share is a probability"):
        dual.encode("好", 1.5, random.Random(1))
