"""Rules that swap roles by order alone."""

from __future__ import annotations

import random

import pytest

from corpora_tools.lessons import role_swaps


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        (role_swaps.swap_persons, "我喜欢你。", "你喜欢我。"),
        (role_swaps.swap_compared, "苹果比香蕉贵。", "香蕉比苹果贵。"),
        (role_swaps.swap_disposal, "他把老师打了。", "老师把他打了。"),
        (role_swaps.swap_disposal, "他被老师批评了。", "老师被他批评了。"),
        (role_swaps.swap_route, "我从北京到上海要五个小时。", "我从上海到北京要五个小时。"),
        (role_swaps.swap_names, "美国邀请法国参加会议。", "法国邀请美国参加会议。"),
        (role_swaps.swap_order, "我们先吃饭再看电影。", "我们先看电影，再吃饭。"),
        (
            role_swaps.swap_cause,
            "因为天气不好，所以他没有来。",
            "因为他没有来，所以天气不好。",
        ),
    ],
)
def test_two_parts_are_swapped(read, rule, text, expected):
    assert rule(read(text), random.Random(1)) == expected


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (role_swaps.swap_names, "美国将与法国合作。"),  # symmetric
        (role_swaps.swap_persons, "我喜欢和你一起去。"),
        (role_swaps.swap_compared, "怎么比他还快？"),
        (role_swaps.swap_disposal, "如何把自己照顾好？"),
    ],
)
def test_what_has_no_roles_is_left_alone(read, rule, text):
    assert rule(read(text), random.Random(1)) is None
