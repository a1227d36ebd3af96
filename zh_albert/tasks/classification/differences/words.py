"""Negations that only one of two texts has, opposite words, and words of one kind."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from zh_albert.tasks.classification.differences.difference import Difference, Span


class _Table(NamedTuple):
    """Words that say something else in each other's place."""

    others: Mapping[str, frozenset[str]]
    """Of each word: those that do."""
    longest: Mapping[str, int]
    """Characters of the longest word that begins with a character."""


_NEGATION = re.compile("没有|不|没|无|未|非|别|勿|莫|否")
# What only has the sign of a negation, or asks, or denies nothing (没事，好不容易).
_NO_NEGATION = re.compile(
    "[是能可与]否|有没有|不错(?!过)|不仅|不但|不光|不单|不过(?![敏期来去关分])|不管(?!用)|不论|"
    "不同(?!意)|不断(?!电)|不久|不禁|不得不|不如|不止|不只|不愧|不妨|不由|不免|不料|不已|"
    "不少(?!于)|不好意思|不客气|不用谢|不知不觉|不一会|不锈钢|差不多|对不起|了不起|不得了|说不定|"
    "忍不住|来不及|差一?点儿?没|好不(?=容易|热闹)|谁不[知想爱喜]|^没(?:事|关系)(?= |$)|没错|未来|"
    "未必|未免|无锡|无线|无论|无非|无数|无比|无奈|无所谓|无限|无人机|否则|非常|[南北东西是除]非|"
    "非洲|非要|非得|非遗|莫名|莫斯科|特别|级别|性别|类别|区别|个别|分别|差别|派别|别人|别的|别墅|"
    "别扭|告别|送别|离别|道别|识别|辨别|鉴别"
)


def negations(first: str, second: str) -> list[Difference]:
    """Return all negations as one difference, if one text has an odd number more than the other.

    >>> negations("他会来", "他不会来"), negations("来的人很多", "来的人不少")
    ([Difference(kind='negation', first=[], second=[(1, 2)])], [])
    """
    ones, others = (list(_negations_of(text)) for text in (first, second))
    return [Difference("negation", ones, others)] if (len(ones) - len(others)) % 2 else []


def opposite_words(first: str, second: str) -> list[Difference]:
    """Return words of the first text whose opposite the second has instead.

    >>> opposite_words("价格上涨了", "价格下跌了"), opposite_words("往左走", "往右走")
    ([Difference(kind='opposite', first=[(2, 4)], second=[(2, 4)])], \
[Difference(kind='opposite', first=[(1, 2)], second=[(1, 2)])])
    """
    return [Difference("opposite", *spans) for spans in _instead(first, second, _opposites())]


def of_other_kind(first: str, second: str) -> list[Difference]:
    """Return words of the first text in whose place the second has another of the same kind.

    >>> of_other_kind("北京的天气", "上海的天气")
    [Difference(kind='other', first=[(0, 2)], second=[(0, 2)])]
    >>> of_other_kind("吃早饭", "吃早餐")
    []
    """
    return [Difference("other", *spans) for spans in _instead(first, second, _kinds())]


def _negations_of(text: str) -> Iterator[Span]:
    blank = _NO_NEGATION.sub(lambda found: " " * len(found[0]), text)
    return (found.span() for found in _NEGATION.finditer(blank))


def _instead(first: str, second: str, table: _Table) -> Iterator[tuple[list[Span], list[Span]]]:
    """Yield where a word stands that only one text has so often, and what the other has instead.

    A single character counts only in the place of the other word: 贵 in that of 便宜.
    """
    others = table.others
    theirs = list(_only(second, first, table))
    taken: list[Span] = []
    for word, span in _only(first, second, table):
        if other := next((one for one in theirs if one[0] in others[word]), None):
            theirs.remove(other)
            taken.append(span)
            yield [span], [other[1]]
    more, theirs_more = Counter(first) - Counter(second), Counter(second) - Counter(first)
    if not any(sign in others for sign in more | theirs_more):
        return
    edits = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    for _, start, end, other_start, other_end in edits:
        word, other_word = first[start:end], second[other_start:other_end]
        if (
            min(len(word), len(other_word)) == 1
            and other_word in others.get(word, ())
            and first.count(word) > second.count(word)
            and first.count(other_word) < second.count(other_word)
            and not any(one[0] < end and start < one[1] for one in taken)
        ):
            yield [(start, end)], [(other_start, other_end)]


def _only(text: str, other: str, table: _Table) -> Iterator[tuple[str, Span]]:
    """Yield the words of a table that a text has more often than the other."""
    words = list(_words(text, table))
    there = {word: other.count(word) for word, _ in words}
    for word, span in words:
        there[word] -= 1
        if there[word] < 0:
            yield word, span


def _words(text: str, table: _Table) -> Iterator[tuple[str, Span]]:
    """Yield the words of two characters and more, the longest at each place."""
    done = 0
    for start, sign in enumerate(text):
        for length in range(table.longest.get(sign, 0) if start >= done else 0, 1, -1):
            word = text[start : start + length]
            if word in table.others and len(word) == length:
                done = start + length
                yield word, (start, done)
                break


@cache
def _opposites() -> _Table:
    def exclude(line: str) -> list[tuple[list[str], list[str]]]:
        left, right = (side.split() for side in line.split("|"))
        return [(left, right), (right, left)]

    return _table("opposites.txt", exclude)


@cache
def _kinds() -> _Table:
    def exclude(line: str) -> Iterator[tuple[list[str], list[str]]]:
        words = [word.split("/") for word in line.split()]
        for word in words:
            yield word, [name for other in words if other is not word for name in other]

    return _table("kinds.txt", exclude)


def _table(name: str, exclude: Callable[[str], Iterable[tuple[list[str], list[str]]]]) -> _Table:
    """Read a table, of whose lines (but comments, with #) ``exclude`` says what excludes what."""
    found: dict[str, set[str]] = defaultdict(set)
    content = files("zh_albert.tasks.classification.differences").joinpath(name)
    for line in content.read_text(encoding="utf-8").splitlines():
        for words, others in [] if line.startswith("#") else exclude(line):
            for word in words:
                found[word] |= {*others} - {word}
    longest: dict[str, int] = {}
    for word in found:
        longest[word[0]] = max(longest.get(word[0], 0), len(word))
    return _Table({word: frozenset(others) for word, others in found.items()}, longest)
