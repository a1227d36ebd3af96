"""Places where a text breaks off."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from zh_albert.tasks.breaks import breaks_of
from zh_albert.tokenization.tokenizer import default_tokenizer


def parts(text: str, *, blanks: bool = True) -> list[str]:
    """The text's tokens, joined between breaks."""
    offsets = default_tokenizer().encode(text).offsets
    edges = [0, *breaks_of(text, offsets, blanks=blanks), len(offsets)]
    return [
        "".join(text[slice(*offset)] for offset in offsets[start:end])
        for start, end in pairwise(edges)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("联系人 陈静\n广州分公司", ["联系人", "陈静", "广州分公司"]),
        ("北京\u3000上海\xa0广州", ["北京", "上海", "广州"]),
        ("John Smith 来自 New York", ["JohnSmith来自NewYork"]),
        ("一\r\n\r\n  二\u2028三", ["一", "二", "三"]),
        ("\n 一 \n", ["一"]),
        ("一，二", ["一，二"]),
        ("", [""]),
        ("\n", [""]),
    ],
)
def test_parts_are_lines_and_what_blanks_part(text: str, expected: list[str]) -> None:
    assert parts(text) == expected


def test_only_lines_where_blanks_do_not_count() -> None:
    assert parts("电话 号码\n地 址", blanks=False) == ["电话号码", "地址"]


def test_long_runs_of_blanks_take_no_longer_than_their_length() -> None:
    for end in (".", "\n", "\t好"):
        text = "李华" + " " * 200_000 + end
        begun = time.process_time()
        breaks_of(text, [(0, 1), (1, 2), (len(text) - 1, len(text))])
        assert time.process_time() - begun < 2  # minutes, if by the square
