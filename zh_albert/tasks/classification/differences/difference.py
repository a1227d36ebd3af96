"""A difference between two texts, and where it stands."""

from __future__ import annotations

from typing import Literal, NamedTuple

Span = tuple[int, int]
"""A range of characters of a text, half-open."""


class Difference(NamedTuple):
    """Something that two texts say differently.

    Attributes:
        kind: ``number``, ``negation``, ``opposite`` (a word and its opposite), ``other`` (words of
            one kind, like 北京 and 上海), or ``order`` (two parts that change places or roles).
        first: Where it stands in the first text, in its order; empty: it has nothing there.
        second: The same for the second text.
    """

    kind: Literal["number", "negation", "opposite", "other", "order"]
    first: list[Span]
    second: list[Span]
