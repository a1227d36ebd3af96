"""Hashes of stretches."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from corpora_tools.shingles import chinese_only, window_hashes
from zh_albert.pretraining.bulk_tokenizer import code_points
from zh_albert.tokenization.characters import is_chinese


@given(st.text(alphabet="一二三", max_size=60), st.integers(1, 33))
def test_stretches_have_equal_hashes_if_they_are_equal(text, width):
    hashes = window_hashes(code_points(text), width).tolist()
    stretches = [text[i : i + width] for i in range(len(text) - width + 1)]
    assert len(hashes) == len(stretches)
    assert len(set(zip(stretches, hashes, strict=True))) == len(set(stretches)) == len(set(hashes))


def test_hashes_are_the_same_everywhere():
    assert window_hashes(code_points("一二三"), 3).tolist() == [15235520176366870833]


@given(st.text())
def test_chinese_characters_are_those_of_the_tokenizer(text):
    expected = [is_chinese(character) or character == "〇" for character in text]
    assert chinese_only(code_points(text)).tolist() == expected
