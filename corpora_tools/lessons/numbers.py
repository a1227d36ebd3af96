"""Numbers in sentences: other values, and other ways to write the same value."""

from __future__ import annotations

import random
import re

from corpora_tools.lessons.sentence import Sentence, drawn

_DIGITS = "零一二三四五六七八九"
_SCALES = ((1000, "千"), (100, "百"), (10, "十"))
_UNITS = (
    "个百分点|个月|个小时|个人|小时|分钟|平方米|公里|千米|公斤|千克"
    "|[天年人名位次家岁元块米斤周倍点月日号件条届层台辆]"
)
_NUMERALS = "一二三四五六七八九十百千万亿两几数"
_TENS = "[二三四五六七八九]?十[一二三四五六七八九]?"
_BOUNDS = re.compile("至少|至多|最多|最少|以上|以下|以内|不到|超过|不少于|不足|多于|少于")
_ARABIC = re.compile(rf"(?<![\d.A-Za-z:：/\-第（(～~])(\d+(?:\.\d+)?)(?=%|万|亿|个|{_UNITS})")
_CHINESE = re.compile(
    rf"(?<![{_NUMERALS}第周期之分星])([二三四五六七八九十两])(?={_UNITS})(?!点[儿钟点]|周[^年])"
)
_SMALL = re.compile(rf"(?<![\d.A-Za-z:：/\-第])([1-9]\d?)(?={_UNITS})(?!月|号|日)")
_WRITTEN = re.compile(
    rf"(?<![{_NUMERALS}第周期之分点星])({_TENS}|[三四五六七八九])(?={_UNITS})(?!点|[月日号家]|周[^年])"
)
_PERCENT = re.compile(r"(?<![\d.])(\d{1,2})%")
_OF_HUNDRED = re.compile(rf"百分之({_TENS}|[一二三四五六七八九])(?![点百])")
_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)年")
_FACTORS = (  # one of the first is so many of the second
    ("公里", "米", 1000),
    ("公斤", "斤", 2),
    ("小时", "分钟", 60),
    ("个小时", "分钟", 60),
    ("周", "天", 7),
    ("个星期", "天", 7),
    ("米", "厘米", 100),
    ("吨", "公斤", 1000),
)
_CONVERTED = {
    unit: re.compile(rf"(?<![\d.:：～~\-至到第])([1-5]|\d\.5){unit}(?![年岁\d/每])")
    for unit, _, _ in _FACTORS
}
_CLOCK = re.compile(r"(?<![\d:：])(\d{1,2})[:：](00|30)(?![\d:：])")
_HALF_PAST = re.compile(r"(?<![\d一-龥])(\d{1,2})点(半|整)")


def in_chinese(number: int) -> str:
    """Write a number from 0 to 9999 in Chinese.

    >>> [in_chinese(one) for one in (0, 10, 12, 30, 105, 1050, 2019)]
    ['零', '十', '十二', '三十', '一百零五', '一千零五十', '二千零一十九']
    """
    if number < 10:
        return _DIGITS[number]
    written, gap = "", False
    for scale, name in _SCALES:
        digit, number = divmod(number, scale)
        if digit:
            written += ("零" if gap else "") + _DIGITS[digit] + name
            gap = False
        elif written:
            gap = True
    if number:
        written += ("零" if gap else "") + _DIGITS[number]
    return written[1:] if written.startswith("一十") else written


_VALUES = {in_chinese(number): number for number in range(100)} | {"两": 2}


def other_number(sentence: Sentence, rng: random.Random) -> str | None:
    """Change a number: 三天 becomes 五天, 2019年 becomes 2021年.

    Bounds are left alone: 至少三天 does not contradict 至少五天.
    """
    text = sentence.text
    if _BOUNDS.search(text):
        return None
    matches = [*_ARABIC.finditer(text), *_CHINESE.finditer(text)]
    if (match := drawn(rng, matches)) is None:
        return None
    old = match[1]
    return text[: match.start(1)] + _other(old, text[match.end(1) :], rng) + text[match.end(1) :]


def other_form(sentence: Sentence, rng: random.Random) -> str | None:
    """Write a number in another way: 三十 and 30, 3点半 and 3:30, 1.5公里 and 1500米."""
    found = []
    text = sentence.text
    for form in (_small, _written, _percent, _of_hundred, _year, _converted, _clock, _half_past):
        changed = form(text)
        if changed != text:
            found.append(changed)
    return drawn(rng, found)


def _other(old: str, after: str, rng: random.Random) -> str:
    if old in _VALUES:
        values = [n for n in range(2, 10) if n != _VALUES[old]]
        new = rng.choice(values)
        return "两" if new == 2 and old != "十" else _DIGITS[new]
    if "." in old:
        whole, part = old.split(".")
        return f"{int(whole) + rng.randint(1, 5)}.{part}"
    number = int(old)
    if len(old) == 4 and old < "2100" and after.startswith("年"):
        return str(number + rng.choice([-9, -6, -4, -3, -2, 2, 3]))
    limit = {"月": 12, "日": 28, "号": 28, "点": 12}.get(after[:1])
    if limit:
        return str(rng.choice([n for n in range(1, limit + 1) if n != number]))
    low = 10 ** (len(old) - 1)
    step = max(1, low // 2)
    others = [low + k * step for k in range(18) if low + k * step not in (number, 1)]
    return str(rng.choice(others))


def _small(text: str) -> str:
    return _SMALL.sub(lambda m: "两" if m[1] == "2" else in_chinese(int(m[1])), text, count=1)


def _written(text: str) -> str:
    return _WRITTEN.sub(lambda m: str(_VALUES[m[1]]), text, count=1)


def _percent(text: str) -> str:
    return _PERCENT.sub(lambda m: f"百分之{in_chinese(int(m[1]))}", text)


def _of_hundred(text: str) -> str:
    return _OF_HUNDRED.sub(lambda m: f"{_VALUES[m[1]]}%", text)


def _year(text: str) -> str:
    return _YEAR.sub(lambda m: "".join(_DIGITS[int(d)] for d in m[1]) + "年", text, count=1)


def _converted(text: str) -> str:
    for unit, smaller, factor in _FACTORS:
        match = _CONVERTED[unit].search(text)
        if match and (whole := float(match[1]) * factor).is_integer():
            value = f"{whole:.0f}{smaller}"
            return text[: match.start()] + value + text[match.end() :]
    return text


def _clock(text: str) -> str:
    return _CLOCK.sub(lambda m: f"{int(m[1])}点{'半' if m[2] == '30' else '整'}", text)


def _half_past(text: str) -> str:
    return _HALF_PAST.sub(lambda m: f"{m[1]}:{'30' if m[2] == '半' else '00'}", text)
