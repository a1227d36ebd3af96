"""Numbers that only one of two texts has, in digits or Chinese, with units made comparable."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from zh_albert.tasks.classification.differences.difference import Difference, Span

_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"两": 2, "俩": 2}
_SCALES = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10_000, "亿": 100_000_000}
_UNITS = {
    **dict.fromkeys(("秒", "秒钟"), ("s", 1)),
    **dict.fromkeys(("分钟",), ("s", 60)),
    **dict.fromkeys(("小时", "个小时", "钟头", "个钟头"), ("s", 3600)),
    **dict.fromkeys(("天", "日"), ("s", 86_400)),
    **dict.fromkeys(("周", "个星期", "星期", "个礼拜"), ("s", 604_800)),
    "厘米": ("m", 0.01),
    "米": ("m", 1),
    **dict.fromkeys(("公里", "千米"), ("m", 1000)),
    "克": ("g", 1),
    "斤": ("g", 500),
    **dict.fromkeys(("公斤", "千克"), ("g", 1000)),
    "吨": ("g", 1_000_000),
    **dict.fromkeys(("角", "毛"), ("y", 0.1)),
    **dict.fromkeys(("元", "块", "块钱"), ("y", 1)),
    "万元": ("y", 10_000),
    "%": ("%", 1),
    "成": ("%", 10),
    "折": ("%", 10),
}
_UNIT = "|".join(sorted(_UNITS, key=len, reverse=True))
_NUMBER = re.compile(
    rf"(?P<percent>百分之)?(?P<number>\d+(?:,\d{{3}})*(?:\.\d+)?[万亿]?"
    rf"|[零一二两俩三四五六七八九十百千万亿]+|半)(?P<unit>{_UNIT})?"
)
# Words with the sign of a number that count nothing.
_NO_NUMBERS = re.compile(
    "一下|一点|一样|一起|一直|一般|一定|一些|一边|一旦|一会|一切|一共|一向|一致|一律|一再|一时|一系列|一流|一并|一同|一体|一贯|一度|一带|"
    "一路|一旦|另一|统一|唯一|之一|万一|同一|进一步|第一时间|千万别|千万不|十分(?![钟之])|百度|百货|百姓|千里马|三星|四川|三亚|六安|"
    "九寨沟|三国|万达|万能|八卦|五官|七夕|双十一|半夜|半岛|半导体|大半|两手|四处|四周|五花八门|七上八下|乱七八糟|一塌糊涂|三心二意|百事"
)


class Number(NamedTuple):
    """A number in a text: in units that can be compared, as it is written, and where."""

    value: tuple[str, float]
    written: float
    span: Span


def other_numbers(first: str, second: str) -> list[Difference]:
    """Return where two texts have other numbers, as one difference, if both have some.

    The same number in other words is none of them: 半小时 and 30分钟, 两天 and 2天.

    >>> other_numbers("等了3天", "等了五天"), other_numbers("等半小时", "等30分钟")
    ([Difference(kind='number', first=[(2, 4)], second=[(2, 4)])], [])
    """
    ones, others = numbers_of(first), numbers_of(second)
    for name in ("value", "written"):
        ones, others = _unmatched(ones, others, name), _unmatched(others, ones, name)
    if not (ones and others):
        return []
    return [Difference("number", [one.span for one in ones], [other.span for other in others])]


def numbers_of(text: str) -> list[Number]:
    """Return the numbers of a text.

    >>> [(number.value, number.written) for number in numbers_of("一百二十块，3.5%")]
    [(('y', 120.0), 120.0), (('%', 3.5), 3.5)]
    """
    blank = _NO_NUMBERS.sub(lambda found: " " * len(found[0]), text)
    found = []
    for match in _NUMBER.finditer(blank):
        written = _value(match["number"])
        kind, factor = _UNITS.get(match["unit"], ("%" if match["percent"] else "", 1))
        found.append(Number((kind, written * factor), written, match.span()))
    return found


def _unmatched(ones: list[Number], others: list[Number], name: str) -> list[Number]:
    there = Counter(getattr(other, name) for other in others)
    kept = []
    for one in ones:
        key = getattr(one, name)
        if there[key]:
            there[key] -= 1
        else:
            kept.append(one)
    return kept


def _value(number: str) -> float:
    """Return the value of a number.

    >>> [_value(one) for one in ("1,200", "3.5万", "十二", "两千零五", "三万五千", "半")]
    [1200.0, 35000.0, 12.0, 2005.0, 35000.0, 0.5]
    """
    if number == "半":
        return 0.5
    if number[0].isdecimal():
        scale = _LARGE.get(number[-1], 1)
        return float(number.rstrip("万亿").replace(",", "")) * scale
    total = part = digit = 0.0
    for sign in number:
        if sign in _DIGITS:
            digit = 10 * digit + _DIGITS[sign]  # 二零一九
        elif sign in _SCALES:
            part += (digit or 1) * _SCALES[sign]
            digit = 0
        else:
            total += (part + digit or 1) * _LARGE[sign]
            part = digit = 0
    return total + part + digit
