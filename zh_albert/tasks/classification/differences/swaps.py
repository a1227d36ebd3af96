"""Parts of two texts that change places: 小王打了小李 and 小李打了小王."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from zh_albert.tasks.classification.differences.difference import Difference, Span

_BEINGS = tuple("我你您他她它猫狗狼羊虎熊蛇鸡鸭牛马猪鼠鸟鱼")  # words of one character
# What moves without a change of meaning: what is asked for, and when, where and how many.
_MOVABLE = re.compile(
    "什么|怎么|怎样|如何|哪|谁|几|多少|为何|为什么|咋|吗|呢|请问|可以|能不能|有没有|是不是"
    "|今天|昨天|明天|现在|目前|当时|后来|最近|今年|去年|上午|下午|晚上|早上|已经|一直|经常|时候"
    "|^[一二两三这那某][个只匹辆位名条群种些块张]|^[在于从因当]|[里上中时后前说]$"
)
_JOINS = re.compile(".*(?:还是|以及|或者|又)|[ 和与及].*[ 和与及]$")  # the latter within a list
_LINKS = re.compile("[的和与跟同及或又而还也在时有是了 ]")


class Part(NamedTuple):
    """A part that two texts have in common."""

    first: int
    """Where it begins in the first text."""
    second: int
    """Where it begins in the second text."""
    length: int

    @property
    def own(self) -> Span:
        """Where it stands in the first text."""
        return self.first, self.first + self.length

    @property
    def theirs(self) -> Span:
        """Where it stands in the second text."""
        return self.second, self.second + self.length


def swapped_parts(first: str, second: str) -> list[Difference]:
    """Return two parts that change places around something that both texts have between them.

    What moves without a change of meaning (a time, what is asked for, items of a list) is none.

    >>> swapped_parts("小王打了小李", "小李打了小王")
    [Difference(kind='order', first=[(0, 2), (4, 6)], second=[(0, 2), (4, 6)])]
    >>> swapped_parts("今天小王来了", "小王今天来了"), swapped_parts("小王和小李", "小李和小王")
    ([], [])
    """
    parts = sorted(_parts(first, second))
    for left, one in enumerate(parts):
        for other in parts[left + 1 :]:
            between = first[one.own[1] : other.first]
            theirs = second[other.theirs[1] : one.second]
            if (
                other.second < one.second
                and not (_JOINS.match(between) or _JOINS.match(theirs))
                and _LINKS.sub("", "".join(c for c in between if c in theirs))
            ):
                return [Difference("order", [one.own, other.own], [other.theirs, one.theirs])]
    return []


def _parts(first: str, second: str) -> Iterator[Part]:
    """Yield the longest parts in common that stand once in either text and may change places."""
    places = defaultdict(list)
    for place, sign in enumerate(second):
        places[sign].append(place)
    for own, sign in enumerate(first):
        for theirs in places[sign]:
            if own and theirs and first[own - 1] == second[theirs - 1] != " ":
                continue  # the middle of a longer part
            length = _shared_length(first[own:], second[theirs:])
            part = first[own : own + length]
            if (
                (len(part) > 1 or part in _BEINGS)
                and first.count(part) == second.count(part) == 1
                and not _MOVABLE.search(part)
            ):
                yield Part(own, theirs, length)


def _shared_length(one: str, other: str) -> int:
    """Return how many characters both texts begin with in common, up to a blank."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b or a == " "), min(len(one), len(other)))
