"""The examples of the tab of sentence pairs, written for this page."""

from __future__ import annotations

from typing import NamedTuple


class PairExample(NamedTuple):
    """Two sentences to try, and their translation."""

    first: str
    second: str
    meaning: str


INFERENCE = (
    PairExample(
        "她每天骑自行车上班，从来不开车。",
        "她不开车上班。",
        "She cycles to work every day and never drives. / She does not drive to work.",
    ),
    PairExample(
        "会议室里坐满了人。",
        "会议室里一个人也没有。",
        "The meeting room is full of people. / Nobody is in the meeting room.",
    ),
    PairExample(
        "小李在超市买了两斤苹果。",
        "小李最喜欢吃苹果。",
        "Li bought a kilo of apples. / Apples are Li's favourite fruit.",
    ),
)

SIMILARITY = (
    PairExample(
        "支付密码忘了怎么办",
        "怎么找回支付密码",
        "I forgot my payment password / How do I get my payment password back",
    ),
    PairExample(
        "信用卡怎么还款",
        "信用卡怎么提高额度",
        "How do I pay off my credit card / How do I raise my credit limit",
    ),
)
