"""Numbers that only one of two texts has, in digits or Chinese, with units made comparable."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from zh_albert.tasks.classification.differences.difference import Difference, Span

_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")}
_DIGITS |= {"〇": 0, "两": 2, "俩": 2}
_SCALES = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10_000, "亿": 100_000_000}
_UNITS = {
    **dict.fromkeys(("秒", "秒钟"), ("s", 1)),
    **dict.fromkeys(("分钟",), ("s", 60)),
    **dict.fromkeys(("刻钟",), ("s", 900)),
    **dict.fromkeys(("小时", "个小时", "钟头", "个钟头", "个钟"), ("s", 3600)),
    **dict.fromkeys(("天", "日"), ("s", 86_400)),
    **dict.fromkeys(("周", "个星期", "星期", "个礼拜", "礼拜"), ("s", 604_800)),
    **dict.fromkeys(("月", "个月"), ("months", 1)),
    **dict.fromkeys(("年", "周年", "岁", "周岁"), ("months", 12)),
    **dict.fromkeys(("毫米", "mm"), ("m", 0.001)),
    **dict.fromkeys(("厘米", "公分", "cm"), ("m", 0.01)),
    "米": ("m", 1),
    **dict.fromkeys(("公里", "千米", "km"), ("m", 1000)),
    **dict.fromkeys(("毫升", "ml"), ("l", 0.001)),
    "升": ("l", 1),
    **dict.fromkeys(("毫克", "mg"), ("g", 0.001)),
    "克": ("g", 1),
    "斤": ("g", 500),
    **dict.fromkeys(("公斤", "千克", "kg"), ("g", 1000)),
    "吨": ("g", 1_000_000),
    "分钱": ("y", 0.01),
    **dict.fromkeys(("角", "毛", "毛钱"), ("y", 0.1)),
    **dict.fromkeys(("元", "块", "块钱"), ("y", 1)),
    "万元": ("y", 10_000),
    "%": ("%", 1),
    "成": ("%", 10),
    "折": ("%", 10),
}
_IN_PARTS = ("y", "m", "g", "s")  # 三块五毛
_UNIT = "|".join(sorted(_UNITS, key=len, reverse=True))
_DIGIT = "[〇零一二三四五六七八九]"
_NUMERAL = r"(?:\d+(?:,\d{3})*(?:\.\d+)?[万亿]?|[〇零一二两俩三四五六七八九十百千万亿]+)"
_NUMBER = re.compile(
    rf"百分之(?P<percent>{_NUMERAL}(?:点{_DIGIT}+)?)|(?P<half>一半|半价|半数)"
    rf"|(?P<hour>{_NUMERAL}(?:[点时](?![间候期段倍]|{_DIGIT}+(?:倍|{_UNIT}))|:(?=[0-5]\d)))"
    rf"(?P<minute>半|[一三]刻|{_NUMERAL}(?=分)|\d\d|{_DIGIT}?十{_DIGIT}?)?"
    rf"|(?P<number>{_NUMERAL}(?:点{_DIGIT}+)?|半)(?P<half_more>个半(?={_UNIT}))?"
    rf"(?:(?P<unit>{_UNIT})"
    rf"(?P<more>半|(?<=[米块元])(?:{_DIGIT}{{1,2}}|\d\d?)(?=[ 的了吧吗呢左多]|$))?)?"
)
# Words with the sign of a number that count nothing.
_NO_NUMBERS = re.compile(
    "(?<![十百千零第周期拜])(?:一下|(?<![午晨])一点(?![半钟整多一二三四五十])|一样|一起|一直|一般|一定|一些|一边|一面|一方面|一旦|一会|一切|一共|"
    "一向|一致|一律|一再|一时|一系列|一流|一并|一同|一体|一贯|一度|一带|一路|一口气|一次性|一块(?=[儿去吃玩来走]))|"
    "另一|统一|唯一|(?<!分)之一|万一|同一|进一步|第一时间|千万别|千万不|十分(?![钟之])|十足|百度|百货|百姓|百科|百合|千里马|二手|二维码|"
    "二胡|三明治|三文鱼|三轮|三星|四川|三亚|六安|九寨沟|三国|万达|万能|万圣节|八卦|八宝粥|五官|七夕|双十一|半夜|半岛|半导体|大半|两手|四处|"
    "四周|五花八门|七上八下|乱七八糟|一塌糊涂|三心二意|百事"
)


class Number(NamedTuple):
    """A number in a text: in units that can be compared, as it is written, and where."""

    kind: str
    """What it counts; empty: something without a known unit."""
    value: float
    written: float
    span: Span


def other_numbers(first: str, second: str) -> list[Difference]:
    """Return where two texts have other numbers, as one difference, if both have some.

    The same number in other words is none of them: 半小时 and 30分钟, 两天 and 2天.

    >>> other_numbers("等了3天", "等了五天"), other_numbers("等半小时", "等30分钟")
    ([Difference(kind='number', first=[(2, 4)], second=[(2, 4)])], [])
    >>> other_numbers("跑10公里", "跑10米"), other_numbers("七点半起床", "7:30起床")
    ([Difference(kind='number', first=[(1, 5)], second=[(1, 4)])], [])
    """
    ones, others = numbers_of(first), numbers_of(second)
    for same in (_of_one_value, _written_the_same):
        ones, others = _unmatched(ones, others, same)
    if not (ones and others):
        return []
    return [Difference("number", [one.span for one in ones], [other.span for other in others])]


def numbers_of(text: str) -> list[Number]:
    """Return the numbers of a text.

    >>> [(number.kind, number.value, number.written) for number in numbers_of("120块5毛，3.5%")]
    [('y', 120.5, 120.0), ('%', 3.5, 3.5)]
    >>> [number.value for number in numbers_of("一个半小时 两年半 一米八 下午三点一刻 一半")]
    [5400.0, 30.0, 1.8, 3.25, 50.0]
    """
    blank = _NO_NUMBERS.sub(lambda found: " " * len(found[0]), text)
    found: list[Number] = []
    for match in _NUMBER.finditer(blank):
        number = _number(match)
        last = found[-1] if found else number
        in_parts = number.kind in _IN_PARTS or match["unit"] == "个月"  # 两岁六个月
        if in_parts and last.kind == number.kind and last.span[1] == number.span[0]:
            span = last.span[0], number.span[1]
            found[-1] = last._replace(value=round(last.value + number.value, 6), span=span)
        else:
            found.append(number)
    return found


def _number(match: re.Match[str]) -> Number:
    if match["half"]:
        return Number("%", 50.0, 0.5, match.span())
    if match["percent"]:
        value = _value(match["percent"])
        return Number("%", value, value, match.span())
    if match["hour"]:
        value = _value(match["hour"][:-1]) + _hours(match["minute"] or "0")
        return Number("clock", round(value % 12, 6), value, match.span())
    more = match["more"] or ""
    value = _value(match["number"]) + (0.5 if match["half_more"] or more == "半" else 0)
    if more and more != "半":
        value += _value(more) / 10 ** len(more)
    kind, factor = _UNITS.get(match["unit"], ("", 1))
    return Number(kind, round(value * factor, 6), value, match.span())


def _hours(minute: str) -> float:
    if minute[-1] in "半刻":
        return {"半": 0.5, "一刻": 0.25, "三刻": 0.75}[minute]
    return _value(minute) / 60


def _of_one_value(one: Number, other: Number) -> bool:
    return one.kind == other.kind and one.value == other.value


def _written_the_same(one: Number, other: Number) -> bool:
    return one.written == other.written and not (one.kind and other.kind)


def _unmatched(
    ones: list[Number], others: list[Number], same: Callable[[Number, Number], bool]
) -> tuple[list[Number], list[Number]]:
    """Return the numbers of either text without those that the other has as well."""
    alone, left = [], list(others)
    for one in ones:
        match = next((other for other in left if same(one, other)), None)
        if match:
            left.remove(match)
        else:
            alone.append(one)
    return alone, left


def _value(number: str) -> float:
    """Return the value of a number.

    >>> [_value(one) for one in ("1,200", "3.5万", "十二", "两千零五", "三万五千", "3点五", "半")]
    [1200.0, 35000.0, 12.0, 2005.0, 35000.0, 3.5, 0.5]
    """
    if number == "半":
        return 0.5
    number, _, digits = number.partition("点")
    fraction = _value(digits) / 10 ** len(digits) if digits else 0.0
    if number[0].isdecimal():
        scale = _LARGE.get(number[-1], 1)
        return float(number.rstrip("万亿").replace(",", "")) * scale + fraction
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
    return total + part + digit + fraction
