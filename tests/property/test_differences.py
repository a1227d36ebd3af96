"""Differences of any two texts: the order of the texts does not matter, places are of the texts."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from zh_albert.tasks.classification.differences.comparison import compare

ALPHABET = (
    "我你他不没很的和被比小王李打了零三五十万亿半点刻分百之天元倍涨跌上海開關，。 1.2,:%٣²Aaéİ\n𠮷"
)
WORDS = st.sampled_from(
    [
        "小王",
        "小李",
        "打了",
        "喜欢",
        "讨厌",
        "三天",
        "5点五倍",
        "3:30",
        "米5",
        "被",
        "比",
        "不",
        "和",
        "，",
    ]
)
TEXTS = st.text(ALPHABET, max_size=40) | st.lists(WORDS, max_size=8).map("".join)


@given(TEXTS, TEXTS)
def test_the_order_of_the_texts_makes_no_difference(one: str, other: str) -> None:
    there, back = compare(one, other), compare(other, one)
    assert there.alike == back.alike
    assert [(d.kind, d.first, d.second) for d in there.differences] == [
        (d.kind, d.second, d.first) for d in back.differences
    ]


@given(TEXTS, TEXTS)
def test_places_are_parts_of_the_texts_that_do_not_overlap(one: str, other: str) -> None:
    found = compare(one, other)
    assert 0 <= found.surely <= 1
    for difference in found.differences:
        assert difference.first or difference.second
        for text, spans in ((one, difference.first), (other, difference.second)):
            assert all(0 <= start < end <= len(text) for start, end in spans)
            assert all(a[1] <= b[0] for a, b in pairwise(spans))


@given(TEXTS)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert not compare(text, text).differences
    assert not compare(text, f"{text}。").differences
