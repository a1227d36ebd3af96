"""Conversion of callers' inputs: to a list of texts, or to a stream in chunks."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Set
from operator import index
from typing import SupportsIndex, TypeVar

import numpy as np

from zh_albert.errors import DataError

Text = TypeVar("Text")


def as_list(texts: str | Iterable[Text], name: str = "texts") -> list[Text]:
    """Return texts in a list; a single string counts as a list of one.

    Args:
        texts: A list, a tuple, an array, a column of a table, a generator.
        name: Name of the argument in errors.

    Raises:
        DataError: If they are unordered, a table, or not iterable.
    """
    return list(_series(texts, name))


def chunks(texts: str | Iterable[Text], size: int) -> Iterator[list[Text]]:
    """Yield a stream's texts in chunks, in order; see ``as_list``.

    If the stream fails, the texts before that are a chunk, and the error comes after it.

    Args:
        texts: Any number of them.
        size: Texts in a chunk, which are sorted together by length; it bounds the memory and the
            wait for the first result.
    """
    iterator = iter(_series(texts, "texts"))
    while True:
        chunk: list[Text] = []
        try:
            chunk.extend(itertools.islice(iterator, size))  # what was taken before it fails stays
        except Exception:  # of whatever kind the caller's stream raises
            if chunk:
                yield chunk
            raise
        if not chunk:
            return
        yield chunk


def as_count(value: object, name: str, *, least: int = 1) -> int:
    """Return a count that a caller gave.

    Raises:
        DataError: If it is not an integer, or less than ``least``.
    """
    if isinstance(value, SupportsIndex) and not isinstance(value, bool) and index(value) >= least:
        return index(value)
    raise DataError(f"{name}: expected a whole number of at least {least}, found {value!r:.50}")


def _series(texts: str | Iterable[Text], name: str) -> Iterable[Text]:
    if isinstance(texts, str):
        return [texts]  # type: ignore[list-item]
    if getattr(texts, "shape", ())[1:] == (2,):  # pairs: an array, or a table of two columns
        return [tuple(row) for row in np.asarray(texts, dtype=object).tolist()]  # type: ignore[misc]
    # Iterating over a table yields its column names, over bytes integers.
    unordered = isinstance(texts, Mapping | Set | bytes | bytearray)
    if unordered or not isinstance(texts, Iterable) or getattr(texts, "ndim", 1) != 1:
        found = f"{type(texts).__name__}: {texts!r:.50}"
        raise DataError(f"{name}: expected a string or a list of them, found {found}")
    return texts
