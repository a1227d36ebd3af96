"""BMES tags: begin, middle and end of a word of several tokens, or single token."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import torch

from zh_albert.model.crf import Transitions
from zh_albert.tasks.segmentation.examples import WordSpan

TAGS = "BMES"
BEGIN, MIDDLE, END, SINGLE = range(4)

_VISIBLE = re.compile(r"\S+")


def legal_transitions() -> Transitions:
    """Return the legal first tags, transitions and last tags.

    >>> [[TAGS[b] for b in range(4) if legal_transitions().between[a, b]] for a in range(4)]
    [['M', 'E'], ['M', 'E'], ['B', 'S'], ['B', 'S']]
    """
    first = torch.tensor([tag in (BEGIN, SINGLE) for tag in range(4)])
    last = torch.tensor([tag in (END, SINGLE) for tag in range(4)])
    return Transitions(start=first, between=last[:, None] == first, end=last)


def tags_of(words: Sequence[WordSpan], offsets: Sequence[tuple[int, int]]) -> list[int]:
    """Return the tag of each token; a word's border inside a token cannot be marked.

    >>> words, characters = [WordSpan(0, 2), WordSpan(2, 3)], [(0, 1), (1, 2), (2, 3)]
    >>> "".join(TAGS[tag] for tag in tags_of(words, characters))
    'BES'
    """
    if not offsets:
        return []
    starts, word = [], 0
    reached = -1
    for start, _ in offsets:
        while word < len(words) - 1 and words[word].end <= start:
            word += 1
        starts.append(word != reached)
        reached = word
    ends = [*starts[1:], True]
    numbers = {(True, False): BEGIN, (False, False): MIDDLE, (False, True): END}
    return [numbers.get(edges, SINGLE) for edges in zip(starts, ends, strict=True)]


def words_of(text: str, tags: Sequence[int], offsets: Sequence[tuple[int, int]]) -> list[WordSpan]:
    """Return the words that tags mark; every character but white space is in exactly one.

    Characters without a token belong to the word before them.

    >>> words_of("我 们好", [BEGIN, END, SINGLE], [(0, 1), (2, 3), (3, 4)])
    [WordSpan(start=0, end=1), WordSpan(start=2, end=3), WordSpan(start=3, end=4)]
    """
    firsts = [o[0] for tag, o in zip(tags, offsets, strict=True) if tag in (BEGIN, SINGLE)]
    borders = sorted({0, *firsts, len(text)})
    return [
        WordSpan(start + found.start(), start + found.end())
        for start, end in pairwise(borders)
        for found in _VISIBLE.finditer(text[start:end])
    ]
