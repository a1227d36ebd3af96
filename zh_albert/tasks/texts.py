"""Contents of examples, texts or pairs of texts: comparison, overlap and checks."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any, Protocol, TypeVar

from zh_albert.errors import DataError

Content = str | tuple[str, str]
"""The input of a model: a text, or a pair of texts."""


_NOTHING = {"Zs", "Zl", "Zp", "Mn", "Mc", "Me", "Cc", "Cf", "Cs"}


class HasText(Protocol):
    """An example of any task."""

    @property
    def text(self) -> Content:
        """As read; never empty."""


E = TypeVar("E", bound=HasText)
T = TypeVar("T")


def has_content(text: str) -> bool:
    """Return whether a text has characters other than spaces, controls and combining marks.

    Unassigned characters count, because new emoji may be unknown to this Python version.
    """
    return any(unicodedata.category(c) not in _NOTHING and c != "\ufffd" for c in text)


def text_key(text: Content) -> str:
    """Return a key that is equal for texts that differ only in width, case and white space.

    The order of the texts of a pair makes no difference.

    >>> text_key("Ａ 级 酒店") == text_key("a级酒店")
    True
    >>> text_key(("好 吃", "难吃")) == text_key(("难吃", "好吃"))
    True
    """
    if isinstance(text, tuple):
        return "\n".join(sorted(map(text_key, text)))
    return "".join(unicodedata.normalize("NFKC", text).lower().split())


def refuse_none(examples: Sequence[Any]) -> None:
    """Check that there is something to learn from.

    Raises:
        DataError: If all of it occurs in the files that are to be excluded, or there was nothing.
    """
    if not examples:
        raise DataError(
            "expected texts to learn from, found none: all of them also occur in the files that "
            "are excluded; give other training files"
        )


def overlap(examples: Iterable[HasText], others: Iterable[HasText]) -> int:
    """Count the ``examples`` whose text also occurs in ``others``."""
    known = {text_key(other.text) for other in others}
    return sum(text_key(example.text) in known for example in examples)


def without(examples: Sequence[E], others: Iterable[HasText]) -> list[E]:
    """Return the examples whose text does not occur in ``others``, in order."""
    known = {text_key(other.text) for other in others}
    return [example for example in examples if text_key(example.text) not in known]


def fresh(texts: Sequence[E], others: Iterable[HasText]) -> list[E]:
    """Return the texts that do not occur in ``others``, each once, in order."""
    if not texts:
        return []
    known, found = {text_key(other.text) for other in others}, []
    for text in texts:
        if (key := text_key(text.text)) not in known:
            known.add(key)
            found.append(text)
    return found


def spread(examples: Sequence[T], most: int) -> list[T]:
    """Return at most so many examples, evenly from all over a file: many are sorted by label.

    >>> spread("abcdefg", 4)
    ['a', 'b', 'd', 'f']
    """
    count = min(most, len(examples))
    return [examples[number * len(examples) // count] for number in range(count)]


def examples_digest(examples: Sequence[Any]) -> str:
    """Return the number of examples and a digest of what they say.

    Where they were read from does not count: the same data in another folder have the same digest.
    """
    digest = hashlib.sha256()
    for example in examples:
        values = {f.name: getattr(example, f.name) for f in fields(example) if f.compare}
        digest.update(json.dumps(values, default=astuple).encode())
    return f"{len(examples)} sha256 {digest.hexdigest()[:16]}"


def refuse_non_strings(texts: Sequence[Any], *, name: str = "texts", counted_from: int = 0) -> None:
    """Check a caller's texts, an argument called ``name``.

    Raises:
        DataError: If an element is not a string; its index, from ``counted_from``, is named.
    """
    for index, text in enumerate(texts, start=counted_from):
        if not isinstance(text, str):
            raise DataError(
                f"{name}[{index}]: expected a string, found {type(text).__name__}: {text!r:.50}"
            )


def refuse_non_pairs(pairs: Sequence[Any], *, counted_from: int = 0) -> None:
    """Check a caller's pairs of texts.

    Raises:
        DataError: If an element is not two strings; its index, from ``counted_from``, is named.
    """
    for index, pair in enumerate(pairs, start=counted_from):
        two = isinstance(pair, tuple | list) and len(pair) == 2
        if not (two and all(isinstance(text, str) for text in pair)):
            raise DataError(
                f"texts[{index}]: expected a pair of strings, found {type(pair).__name__}: "
                f"{pair!r:.50}; write pairs as [(text_a, text_b), …]"
            )


def refuse_unseen(
    named: Iterable[tuple[str, str]], known: Sequence[str], source: Path | str, what: str
) -> None:
    """Check that a model knows all classes or types in evaluation data.

    Args:
        named: The classes or types in the data, each with its place (may be empty).
        known: The classes or types of the model.
        source: The data, named in the error if there is no place.
        what: A plural noun for the names, such as classes.

    Raises:
        DataError: If some do not occur in training; they are named, with the place of the first.
    """
    unseen: dict[str, str] = {}
    for name, place in named:
        if name not in known:
            unseen.setdefault(name, place)
    if unseen:
        raise DataError(
            f"{next(iter(unseen.values())) or source}: {what} {sorted(unseen)} do not occur in "
            f"training; the model knows {', '.join(known)}. Map or remove these examples"
        )
