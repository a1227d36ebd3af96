"""Parts of two texts that change places: 小王打了小李 and 小李打了小王."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from zh_albert.tasks.classification.differences.difference import Difference, Span

_BEINGS = tuple("我你您他她它谁猫狗狼羊虎熊蛇鸡鸭牛马猪鼠鸟鱼")  # words of one character
# What moves without a change of meaning: what is asked for, and when, where and how many.
_MOVABLE = re.compile(
    "什么|怎么|怎样|如何|哪|几|多少|为何|为什么|咋|吗|呢|请问|可以|能不能|有没有|是不是"
    "|今天|昨天|明天|今晚|昨晚|现在|目前|当时|刚才|后来|最近|今年|去年|上午|下午|晚上|早上|[上下本这每]周|[上下]个月|每天|已经|一直|经常|时候"
    "|其实|可能|大概|也许|突然|终于|果然|^[一二两三这那某][个只匹辆位名条群种些块张].|^[在于从因当]|.[里上中时后前说]$"
)
# Between two parts, then after them in either text: a list, or what holds both ways.
_JOINS = re.compile(
    r".*(?:还是|以及|或者|又|一边|一面)|[ 和与及].*[ 和与及]\|"
    r"|[到至]\|的?(?:距离|有?多远|有?多少公里)"
)
_LINKS = re.compile("[的和与跟同及或又而还也在时有是就了 ]|离(?!开)|距离?")
# The same, if it does not hold both ways: 她是他的老师, 书在桌子上.
_ROLES = re.compile(
    r"是\|的(?!.{0,3}(?:同学|同事|朋友|邻居|室友|同桌|搭档|对手|老乡|好友|闺蜜))"
    r"|在\|的?[左右前后上下里外东西南北]|跟\|(?:说(?!好)|讲|借|要|道歉|表白|求婚)"
)
# Between two parts in one text and in the other: A比B贵 is B没有A贵, where the negation counts too.
_COMPARED = re.compile(r"比\|(?:没有?|不比)|(?:没有?|不比)\|比")


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
    pairs = list(combinations(sorted(_parts(first, second)), 2))
    if ("被" in first) != ("被" in second):
        found = (pair for pair in pairs if _turned_by_passive(first, second, *pair))
    else:
        pairs += _exchanged(first, second)
        found = (pair for pair in pairs if _swapped(first, second, *pair))
    for one, other in found:
        ones, others = sorted([one.own, other.own]), sorted([one.theirs, other.theirs])
        return [Difference("order", ones, others)]
    return []


def _swapped(first: str, second: str, one: Part, other: Part) -> bool:
    """Whether two parts change places around something that does not hold both ways."""
    between = first[one.own[1] : other.first]
    theirs = second[other.theirs[1] : one.second]
    if not (between and theirs):
        return False
    after = first[other.own[1] :], second[one.theirs[1] :]
    if any(_JOINS.match(f"{a}|{b}") for a, b in zip((between, theirs), after, strict=True)):
        return False
    if _COMPARED.fullmatch(f"{between}|{theirs}"):
        return True
    shared = "".join(c for c in between if c in theirs)
    return bool(_LINKS.sub("", shared)) or all(_ROLES.match(f"{shared}|{rest}") for rest in after)


def _turned_by_passive(first: str, second: str, one: Part, other: Part) -> bool:
    """Whether two parts keep their places, but only one text has 被 between them.

    >>> swapped_parts("小王打了小李", "小王被小李打了")
    [Difference(kind='order', first=[(0, 2), (4, 6)], second=[(0, 2), (3, 5)])]
    >>> swapped_parts("小王打了小李", "小李被小王打了")
    []
    """
    between = {first[one.own[1] : other.first], second[one.theirs[1] : other.second]}
    return one.second < other.second and "被" in between and not between & _PASSIVE


_PASSIVE = {"", "给", "让", "叫", "由", "是", "遭", "受"}  # where 被 could stand


def _exchanged(first: str, second: str) -> Iterator[tuple[Part, Part]]:
    """Yield two parts, maybe of one character, if the texts are the same but for their places.

    >>> swapped_parts("从东到西", "从西到东"), swapped_parts("爱看书爱跑步", "爱跑步爱看书")
    ([Difference(kind='order', first=[(1, 2), (3, 4)], second=[(1, 2), (3, 4)])], [])
    """
    if len(first) != len(second):
        return
    begin = _shared_length(first, second, "")
    end = len(first) - _shared_length(first[:begin:-1], second[:begin:-1], "")
    one, other = first[begin:end], second[begin:end]
    for length in range(1, len(one) - 1):
        left, rest = one[:length], one[length:]
        if not other.endswith(left):
            continue
        shift = (rest * 2).find(other[:-length], 1, -1)  # of what is between, to the front
        if shift < 1:
            continue
        between, right = rest[:shift], len(rest) - shift
        before = _shared_length(first[:begin][::-1], between[::-1])  # of 小王 and 小李
        after = _shared_length(first[end:], between[: shift - before])  # of 中国 and 美国
        parts = (
            Part(begin - before, end - length - before, before + length + after),
            Part(end - right - before, begin - before, before + right + after),
        )
        texts = [first[slice(*part.own)] for part in parts]
        if not any(_MOVABLE.search(text) or " " in text for text in texts):
            yield parts
        return


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


def _shared_length(one: str, other: str, end: str = " ") -> int:
    """Return how many characters both texts begin with in common, up to a blank or other end."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b or a == end), min(len(one), len(other)))
