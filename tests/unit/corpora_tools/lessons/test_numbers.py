"""Numbers: other values, and the same in another form."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora_tools.lessons.numbers import in_chinese, other_form, other_number
from corpora_tools.lessons.sentence import Sentence
from zh_albert.compression.augmentation.tang import Word

DIGITS = "零一二三四五六七八九"
SCALES = {"十": 10, "百": 100, "千": 1000}


def read(text):
    return Sentence((Word(text, "x"),))


def value(written):
    """Return the value of a Chinese numeral below ten thousand."""
    total, digit = 0, 0
    for character in written:
        if character in SCALES:
            total += (digit or 1) * SCALES[character]
            digit = 0
        else:
            digit = DIGITS.index(character)
    return total + digit


@given(st.integers(0, 9999))
def test_a_number_in_chinese_has_its_value(number):
    assert value(in_chinese(number)) == number


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("我等了30分钟。", {"我等了三十分钟。"}),
        ("我等了三十分钟。", {"我等了30分钟。"}),
        ("全程1.5公里。", {"全程1500米。"}),
        ("降价20%。", {"降价百分之二十。"}),
        ("降价百分之二十。", {"降价20%。"}),
        ("会议3:30开始。", {"会议3点半开始。"}),
        ("他2019年毕业。", {"他二零一九年毕业。"}),
        ("他住在第三层，四周是墙。", {None}),
        ("第3周我们去了北京。", {None}),
        ("我家在第2条街上。", {None}),
        ("年满5周岁的孩子可以报名。", {"年满五周岁的孩子可以报名。"}),
        ("项目用了1.5周。", {None}),  # ten days and a half
    ],
)
def test_a_number_is_written_in_another_form(text, forms):
    assert {other_form(read(text), random.Random(seed)) for seed in range(9)} <= forms | {None}
    assert other_form(read(text), random.Random(1)) in forms


@given(st.integers(2, 99), st.integers(0, 99))
def test_another_number_is_another(number, seed):
    text = f"他等了{number}天。"

    changed = other_number(read(text), random.Random(seed))

    assert changed is not None
    assert changed != text
    assert changed.startswith("他等了")
    assert changed.endswith("天。")


@pytest.mark.parametrize(
    "text", ["至少来了30人。", "价格不到50元。", "第3天他来了。", "几十人来了。"]
)
def test_bounds_and_ordinals_are_left_alone(text):
    assert other_number(read(text), random.Random(1)) is None
