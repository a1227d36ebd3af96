"""Rules of one direction, for inference."""

from __future__ import annotations

import random

import pytest

from corpora_tools.lessons import one_way


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        (
            one_way.drop_clause,
            "公司发布了新手机，用户可以在网上购买。",
            "公司发布了新手机。",
        ),
        (one_way.drop_time, "他昨天去了上海。", "他去了上海。"),
        (one_way.drop_degree, "这个房间非常干净。", "这个房间干净。"),
        (one_way.more_general, "他买了一个苹果。", "他买了一个水果。"),
        (one_way.more_general, "会议将在上海举行。", "会议将在一座城市举行。"),
        (one_way.at_least, "有五位老师来了。", "有至少三位老师来了。"),
    ],
)
def test_less_is_said(read, rule, text, expected):
    assert rule(read(text), random.Random(1)) == expected


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (one_way.drop_time, "他昨天没有来。"),  # it may be that he came today
        (one_way.more_general, "他没有买苹果。"),
        (one_way.more_general, "苹果很甜。"),  # not all fruit is
        (one_way.drop_clause, "如果明天下雨，我们就不去公园了。"),
        (one_way.at_least, "最多有五位老师。"),
    ],
)
def test_what_does_not_follow_is_not_said(read, rule, text):
    assert rule(read(text), random.Random(1)) is None


def test_a_detail_is_added_before_the_verb(read):
    sentence = read("他买了一部手机。")

    changed = one_way.add_detail(sentence, random.Random(1))

    assert changed is not None
    assert changed.startswith("他")
    assert changed.endswith("买了一部手机。")
