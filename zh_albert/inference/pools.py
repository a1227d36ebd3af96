"""A stream of texts in pools."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import TypeVar

Text = TypeVar("Text")

_POOL = 2048  # texts sorted together by length: bounds memory and the wait for the first result


def pools(texts: Iterable[Text]) -> Iterator[list[Text]]:
    """Yield the texts in lists that are answered together, in order."""
    iterator = iter(texts)
    while pool := list(itertools.islice(iterator, _POOL)):
        yield pool
