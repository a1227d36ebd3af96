"""The examples of the tab that looks into the encoders, written for this page."""

from __future__ import annotations

from apps.i18n.page import Example

EXAMPLES = (
    Example(
        "今天在杭州西湖边喝了一杯龙井茶。",
        "Today I drank a cup of Longjing tea by West Lake in Hangzhou.",
    ),
    Example(
        "小明把书还给了小红，因为她明天要用。",
        "Ming gave the book back to Hong, because she needs it tomorrow.",
    ),
    Example(
        "虽然下着大雨，比赛还是按时开始了。", "Although it rained hard, the match began on time."
    ),
)
