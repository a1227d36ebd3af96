"""Comparison of two texts: what they say differently, and whether they are alike otherwise."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from zh_albert.tasks.classification.differences.difference import Difference, Span
from zh_albert.tasks.classification.differences.numbers import numbers_of, other_numbers
from zh_albert.tasks.classification.differences.swaps import swapped_parts
from zh_albert.tasks.classification.differences.words import (
    negations,
    of_other_kind,
    opposite_words,
)
from zh_albert.tokenization.characters import fold_width, lower
from zh_albert.tokenization.simplified import simplified

_LONGEST = 200  # characters; long texts have many differences, and that one counts is not sure
_UNLIKE, _ALIKE = 0.7, 0.9  # shares of characters in common: hardly alike, and as good as the same
_BLANK = " "


class Comparison(NamedTuple):
    """What two texts say differently, and how alike they are otherwise.

    Attributes:
        differences: Those found; the texts may have others.
        alike: From 0 to 1: 1 if what is left of both has nearly the same characters.
    """

    differences: list[Difference]
    alike: float

    @property
    def surely(self) -> float:
        """How surely the texts look alike and say different things, from 0 to 1."""
        return self.alike if self.differences else 0.0


NONE = Comparison([], 0.0)


def compare(first: str, second: str) -> Comparison:
    """Look for differences between two texts of up to 200 characters that look alike.

    Args:
        first: One text.
        second: The other. In the other order the answer is the same.

    Returns:
        What was found, as ranges of characters of these strings; nothing where the texts are the
        same, longer, or have too little in common.
    """
    if first > second:
        found = compare(second, first)
        turned = [one._replace(first=one.second, second=one.first) for one in found.differences]
        return found._replace(differences=turned)
    if max(len(first), len(second)) > _LONGEST:
        return NONE
    one, other = (_QUESTION.sub(_blanks, normalized(text)) for text in (first, second))
    if one == other or _in_common(one, other) < _UNLIKE / 2:
        return NONE
    differences, rest = _found(one, other)
    alike = (_in_common(*rest) - _UNLIKE) / (_ALIKE - _UNLIKE)
    return Comparison(differences, min(max(alike, 0.0), 1.0))


def normalized(text: str) -> str:
    """Return a text in simplified characters and lower case, with blanks for signs; its length
    stays.

    >>> normalized("他說：１０．５％！")
    '他说 10.5% '
    """
    return _SIGN.sub(_BLANK, simplified(lower(fold_width(text))))


_SIGN = re.compile(r"[^\w%.,:]|_|(?<!\d)[.,:]|[.,:](?!\d)")  # but those of a number
# 来不来 and 来不 ask the same as 来吗.
_QUESTION = re.compile(
    "([\u4e00-\u9fff]{1,2})[不没](?=\\1)|(?<![ 还都也就并从决绝要我你他她们])(?:没有|[不没])(?= |$)"
)


def _blanks(question: re.Match[str]) -> str:
    return _BLANK * len(question[0])


def _found(first: str, second: str) -> tuple[list[Difference], tuple[str, str]]:
    """Return the differences of two texts, and what is left of the texts without them."""
    found: list[Difference] = []

    def look(finder: Callable[[str, str], list[Difference]]) -> list[Difference]:
        nonlocal first, second
        new = finder(first, second)
        for one in new:  # so that each is found once
            first, second = _blanked(first, one.first), _blanked(second, one.second)
        found.extend(new)
        return new

    turns = look(swapped_parts), look(opposite_words), look(negations)
    if sum(map(bool, turns)) == 2:  # 不容易 is 难, and A比B贵 says the same as B比A便宜
        found.clear()
    look(other_numbers)
    first, second = (  # 一千 is 1000
        _blanked(text, [number.span for number in numbers_of(text)]) for text in (first, second)
    )
    look(of_other_kind)
    return found, (first, second)


def _blanked(text: str, spans: list[Span]) -> str:
    for start, end in spans:
        text = text[:start] + _BLANK * (end - start) + text[end:]
    return text


def _in_common(one: str, other: str) -> float:
    """Return the share of characters that two texts have in common, from 0 to 1.

    >>> _in_common("我 喜欢你", "你爱我")
    0.5714285714285714
    """
    counts = [Counter(text.replace(_BLANK, "")) for text in (one, other)]
    return 2 * (counts[0] & counts[1]).total() / max(1, sum(own.total() for own in counts))
