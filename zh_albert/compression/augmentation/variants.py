"""Distinct variants of a text or a pair: what every method of augmentation has in common."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence

from zh_albert.tasks.texts import Content, has_content

UNKNOWN_SIGN = "▢"
"""A sign that our vocabulary lacks, so it is read as ``[UNK]``."""

Change = Callable[[str, random.Random], str]
"""Returns a variant of a text; the text itself if there is nothing to change."""


def sides_of(content: Content) -> tuple[str, ...]:
    """Return the texts of a content, one or two.

    >>> sides_of("好"), sides_of(("好", "坏"))
    (('好',), ('好', '坏'))
    """
    return content if isinstance(content, tuple) else (content,)


def distinct_variants(
    content: Content,
    changes: Sequence[Change],
    turns: Sequence[Sequence[int]],
    number: int,
    seed: int,
) -> list[Content]:
    """Draw variants of one content; equal ones are left out, and those equal to the content.

    The random numbers are a function of seed and content, so neither the other contents nor the
    order matter.

    Args:
        content: A text or a pair.
        changes: One for each of its texts.
        turns: The sides of a pair that are changed, in turn; the others are held fixed.
        number: Draws; fewer variants if some are equal or say nothing.
        seed: Of the run.
    """
    sides = sides_of(content)
    rng = random.Random(json.dumps([seed, *sides]).encode())
    turns = turns if len(sides) == 2 else [[0]]
    found = {sides: content}
    for draw in range(number):
        variant = list(sides)
        for side in turns[draw % len(turns)]:
            variant[side] = changes[side](sides[side], rng)
        if all(new == old or _says_something(new) for new, old in zip(variant, sides, strict=True)):
            found.setdefault(tuple(variant), _content(variant))
    del found[sides]
    return list(found.values())


def _says_something(text: str) -> bool:
    return has_content(text.replace(UNKNOWN_SIGN, ""))


def _content(sides: Sequence[str]) -> Content:
    return (sides[0], sides[1]) if len(sides) == 2 else sides[0]
