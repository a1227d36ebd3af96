"""Negations that only one of two texts has, opposite words, and words of one kind."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from functools import cache
from importlib.resources import files

from zh_albert.tasks.classification.differences.difference import Difference, Span

_Others = Mapping[str, frozenset[str]]
"""Of each word: those that say something else in its place."""
_NEGATION = re.compile("没有|不|没|无|未|非|别|勿|莫|否")
# What asks, or only has the sign of a negation.
_NO_NEGATION = re.compile(
    "([\u4e00-\u9fff])[不没]\\1|[是能可与]否|有没有|不错|不仅|不但|不过|不管|不论|不同(?!意)|不断|不久|不禁|不得不|不如|不止|不只|不愧|不妨|"
    "不由|不好意思|不客气|不知不觉|不锈钢|差不多|对不起|了不起|说不定|忍不住|来不及|没错|未来|未必|无论|无锡|无线|无非|否则|好不容易|差一?点没|不一会|谁不|没事|没关系|没问题|"
    "非常|非洲|非要|莫名|莫斯科|特别|级别|性别|类别|区别|个别|分别|别人|别的|别墅|告别|识别|鉴别"
    "|(?:没有|[没不])(?= *$)"
)


def negations(first: str, second: str) -> list[Difference]:
    """Return all negations as one difference, if one text has an odd number more than the other.

    >>> negations("他会来", "他不会来"), negations("他来不来", "他来吗")
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
    found = [Difference("opposite", *spans) for spans in _instead(first, second, _opposites())]
    taken = {at for one in found for start, end in one.first for at in range(start, end)}
    edits = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    for edit, start, end, other_start, other_end in edits:  # single characters, too: 贵 and 便宜
        one, other = first[start:end], second[other_start:other_end]
        if edit == "replace" and other in _opposites().get(one, ()) and start not in taken:
            found.append(Difference("opposite", [(start, end)], [(other_start, other_end)]))
    return found


def of_other_kind(first: str, second: str) -> list[Difference]:
    """Return words of the first text in whose place the second has another of the same kind.

    >>> of_other_kind("北京的天气", "上海的天气")
    [Difference(kind='other', first=[(0, 2)], second=[(0, 2)])]
    """
    return [Difference("other", *spans) for spans in _instead(first, second, _kinds())]


def _negations_of(text: str) -> Iterator[Span]:
    blank = _NO_NEGATION.sub(lambda found: " " * len(found[0]), text)
    return (found.span() for found in _NEGATION.finditer(blank))


def _instead(first: str, second: str, others: _Others) -> Iterator[tuple[list[Span], list[Span]]]:
    """Yield where a longer word stands that only one text has, and what the other has instead."""
    theirs = {word: span for word, span in _words(second, others) if word not in first}
    for word, span in _words(first, others):
        if word not in second and (other := next(filter(others[word].__contains__, theirs), None)):
            yield [span], [theirs.pop(other)]


def _words(text: str, known: Mapping[str, object]) -> Iterator[tuple[str, Span]]:
    """Yield the known words of two characters and more, the longest at each place."""
    start = 0
    while start < len(text):
        for end in range(min(len(text), start + _LONGEST), start + 1, -1):
            if text[start:end] in known:
                yield text[start:end], (start, end)
                start = end - 1
                break
        start += 1


_LONGEST = 6  # characters of a word in the tables


@cache
def _opposites() -> _Others:
    def exclude(line: str) -> list[tuple[list[str], list[str]]]:
        left, right = (side.split() for side in line.split("|"))
        return [(left, right), (right, left)]

    return _table("opposites.txt", exclude)


@cache
def _kinds() -> _Others:
    return _table("kinds.txt", lambda line: [(line.split(), line.split())])


def _table(name: str, exclude: Callable[[str], Iterable[tuple[list[str], list[str]]]]) -> _Others:
    """Read a table, of whose lines (but comments, with #) ``exclude`` says what excludes what."""
    found: dict[str, set[str]] = defaultdict(set)
    table = files("zh_albert.tasks.classification.differences").joinpath(name)
    for line in table.read_text(encoding="utf-8").splitlines():
        for words, others in [] if line.startswith("#") else exclude(line):
            for word in words:
                found[word] |= {*others} - {word}
    return {word: frozenset(others) for word, others in found.items()}
