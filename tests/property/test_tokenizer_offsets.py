"""Offsets index the user's own string, whatever is in it."""

from __future__ import annotations

import itertools
import unicodedata

import pytest
import tokenizers
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tokenizers import models, normalizers, pre_tokenizers

from tests.helpers.odd_texts import ANYTHING, TEXTS, odd_tokenizer
from zh_albert.tokenization.characters import fold_width, replace_surrogates
from zh_albert.tokenization.encoding import Encoding, room_of_each, windows
from zh_albert.tokenization.simplified import simplified
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.tokenization.vocab import default_vocabulary
from zh_albert.tokenization.wordpiece import WordPieceTokenizer
from zh_albert.tokenization.words import segmenter, word_ranges

TOKENIZERS = [
    pytest.param(default_tokenizer, id="default"),
    pytest.param(lambda: odd_tokenizer(True), id="odd-uncased"),
    pytest.param(lambda: odd_tokenizer(False), id="odd-cased"),
]


WHOLE_WORDS = [
    pytest.param(
        lambda: WordPieceTokenizer(default_vocabulary(), fold_width=True, simplify=True), id="own"
    ),
    *TOKENIZERS[1:],
]
"""Those in which a word with an unknown sign is one token, as in BERT's own."""


def read_as(text: str, tokenizer: WordPieceTokenizer) -> str:
    """Say which characters the tokenizer reads."""
    folded = fold_width(text) if tokenizer.fold_width else text
    return simplified(folded) if tokenizer.simplify else folded


def normal(slice_: str, tokenizer: WordPieceTokenizer) -> str:
    """Say what BERT makes of a slice, after its paper's code, by Python's own Unicode tables."""
    kept = (c for c in slice_ if unicodedata.category(c)[0] != "C" and c != "\ufffd")
    result = "".join(kept)
    if tokenizer.strip_accents:
        decomposed = unicodedata.normalize("NFD", result)
        result = "".join(c for c in decomposed if unicodedata.category(c) != "Mn")
    return result.lower() if tokenizer.lowercase else result


@pytest.mark.parametrize("make", TOKENIZERS)
@given(text=TEXTS)
def test_the_slice_is_the_token(make, text):
    tokenizer = make()
    encoding = tokenizer.encode(text)

    shared = {a for a, b in itertools.pairwise(encoding.offsets) if a == b}
    for token, offset in zip(tokenizer.tokens(encoding.ids), encoding.offsets, strict=True):
        slice_ = normal(read_as(text, tokenizer)[slice(*offset)], tokenizer)
        assert slice_
        if token == "[UNK]":
            continue
        piece = token.removeprefix("##") if token != "##" else token
        if offset in shared:  # a character that normalises to several
            assert piece in slice_
            assert offset[1] - offset[0] == 1
        else:
            assert piece == slice_


@pytest.mark.parametrize("make", TOKENIZERS)
@given(text=ANYTHING)
def test_offsets_ascend_and_lie_in_the_text(make, text):
    encoding = make().encode(text)

    assert len(encoding.ids) == len(encoding.offsets)
    assert all(0 <= start < end <= len(text) for start, end in encoding.offsets)
    for before, after in itertools.pairwise(encoding.offsets):
        assert before[1] <= after[0] or before == after


@pytest.mark.slow
@pytest.mark.parametrize("make", WHOLE_WORDS)
@given(text=ANYTHING)
@example(text="a\x1cb a\x0bb a\x85b a\xa0b a\u200bb a\u2028b 中\x1c文")
@example(text="a中b，c\u0301，\u0301中\u0301！\u0338<\u0338豈a豈豈\U0002f800𠮷\U0002a6df\U0003134a")
def test_the_short_cut_changes_nothing(make, text):
    tokenizer = make()
    library = tokenizers.Tokenizer(models.WordPiece(tokenizer.vocabulary.ids, unk_token="[UNK]"))
    library.normalizer = normalizers.BertNormalizer(lowercase=tokenizer.lowercase)
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()

    expected = library.encode(
        replace_surrogates(read_as(text, tokenizer)), add_special_tokens=False
    )

    assert tokenizer.encode(text) == Encoding(expected.ids, expected.offsets)
    assert tokenizer.encode(text) == Encoding(expected.ids, expected.offsets)  # from the cache


@pytest.mark.slow
@given(text=ANYTHING)
@example(text="张伟花¥3999在小米之家 yyds💯 good👍🏻 100℉ 10µg 𒀀abc a\u0301💯x")
def test_an_unknown_sign_takes_no_neighbour_along(text):
    """Known words stay, and no token holds both an unknown sign and a letter that words have."""
    whole = WordPieceTokenizer(default_vocabulary(), fold_width=True, simplify=True).encode(text)
    apart = default_tokenizer().encode(text)
    unknown = default_tokenizer().special.unk

    known = {(i, o) for i, o in zip(whole.ids, whole.offsets, strict=True) if i != unknown}
    assert known <= set(zip(apart.ids, apart.offsets, strict=True))
    for token, (start, end) in zip(apart.ids, apart.offsets, strict=True):
        if token == unknown and end - start <= 100:
            assert not set(text[start:end]) & set("abcdefghijklmnopqrstuvwxyz0123456789")


@pytest.mark.parametrize("make", TOKENIZERS)
@given(text=TEXTS)
def test_text_never_becomes_a_special_token(make, text):
    tokenizer = make()
    special = {tokenizer.special.pad, *tokenizer.special[2:]}

    assert special.isdisjoint(tokenizer.encode(text).ids)


@pytest.mark.parametrize("make", TOKENIZERS)
@given(first=TEXTS, second=TEXTS)
def test_a_line_break_separates(make, first, second):
    tokenizer = make()
    parts = read_as(first, tokenizer), read_as(second, tokenizer)
    assume("\n".join(parts) == read_as(f"{first}\n{second}", tokenizer))  # 著 beside 國 is 着
    together = tokenizer.encode(f"{first}\n{second}")

    assert together.ids == tokenizer.encode(first).ids + tokenizer.encode(second).ids


@pytest.mark.parametrize("name", ["rjieba", "jieba"])
@given(text=ANYTHING)
def test_every_token_is_in_exactly_one_word(name, text):
    tokenizer = default_tokenizer()
    encoding = tokenizer.encode(text)
    words = word_ranges(text, encoding.offsets, segmenter(name).cut)

    assert [token for word in words for token in word] == list(range(len(encoding)))
    assert all(words)
    tokens = tokenizer.tokens(encoding.ids)
    begins = {word.start for word in words}
    for index, token in enumerate(tokens):
        if token.startswith("##") and token[2:].isascii() and tokens[index - 1].isascii():
            assert index not in begins  # the pieces of an English word stay together


@given(text=TEXTS)
def test_both_segmenters_give_the_same_words(text):
    offsets = default_tokenizer().encode(text).offsets
    first, second = (word_ranges(text, offsets, segmenter(n).cut) for n in ("rjieba", "jieba"))

    assert first == second


@given(length=st.integers(0, 300), max_tokens=st.integers(1, 60), data=st.data())
def test_windows_hold_every_token(length, max_tokens, data):
    stride = data.draw(st.integers(0, max_tokens - 1))
    found = windows(Encoding([0] * length, []), max_tokens, stride)

    assert {token for window in found for token in window} == set(range(length))
    assert all(len(window) <= max_tokens for window in found)
    overlaps = [before.stop - after.start for before, after in itertools.pairwise(found)]
    assert all(overlap == stride for overlap in overlaps[:-1])
    assert all(overlap >= stride for overlap in overlaps[-1:])
    assert (len(found) == 1) == (length <= max_tokens)


@given(first=st.integers(0, 40), second=st.integers(0, 40), room=st.integers(0, 60))
def test_the_longer_text_gives_way(first, second, room):
    expected = [first, second]
    while sum(expected) > room:  # one token at a time, from the end of the longer
        expected[1 if expected[1] >= expected[0] else 0] -= 1

    assert room_of_each(first, second, room) == tuple(expected)
