"""Tables of words for lessons: opposites, synonyms, more general words, entities, verb frames.

They are the text files in ``words``: a row a line, words separated by spaces.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

TIMES = ("day", "later", "year", "week", "weekday", "hour", "month", "season")


class Frame(NamedTuple):
    """A transitive verb, and the kind of names it stands between.

    Attributes:
        kind: A kind of ``entities``.
        verb: With its complement, without 了.
        disposal: The object may come first, after 把.
        one_way: If A did it to B, B did not do it to A.
    """

    kind: str
    verb: str
    disposal: bool
    one_way: bool


def rows(name: str) -> Iterator[list[str]]:
    """Yield the rows of a table; lines that begin with # are comments."""
    table = files("corpora_tools.lessons").joinpath("words", f"{name}.txt")
    for line in table.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split()


@cache
def antonyms() -> dict[str, tuple[str, ...]]:
    """Return the opposites of each word."""
    found: dict[str, list[str]] = defaultdict(list)
    for one, other, _ in rows("antonyms"):
        found[one].append(other)
        found[other].append(one)
    return {word: tuple(others) for word, others in found.items()}


@cache
def gradable(*, denied: bool = False) -> dict[str, str]:
    """Return the first opposite of each gradable adjective, for comparisons.

    Args:
        denied: Only those of which "not one" says nearly "the other".
    """
    found: dict[str, str] = {}
    for one, other, mark in rows("antonyms"):
        if mark == "g+" or (mark == "g" and not denied):
            found.setdefault(one, other)
            found.setdefault(other, one)
    return found


@cache
def marks() -> dict[str, str]:
    """Return the marks of the words that have opposites: g, a, v, n or d."""
    return {word: mark[0] for one, other, mark in rows("antonyms") for word in (one, other)}


@cache
def synonyms() -> dict[str, tuple[str, ...]]:
    """Return the words of one meaning with each word; those of its first group."""
    found: dict[str, tuple[str, ...]] = {}
    for group in rows("synonyms"):
        for word in group:
            found.setdefault(word, tuple(other for other in group if other != word))
    return found


@cache
def hypernyms() -> dict[str, tuple[str, ...]]:
    """Return the more general words for each word."""
    return {word: tuple(general) for word, *general in rows("hypernyms")}


@cache
def scopes() -> dict[str, tuple[tuple[str, str], ...]]:
    """Return replacements of words of quantity, necessity and time, each with its relation."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for word, other, relation in rows("scopes"):
        found[word].append((other, relation))
    return {word: tuple(others) for word, others in found.items()}


@cache
def entities() -> dict[str, tuple[str, ...]]:
    """Return the words of each kind of entity."""
    return {kind: tuple(words) for kind, *words in rows("entities")}


@cache
def words(name: str) -> tuple[str, ...]:
    """Return the words of a class."""
    return {name: tuple(words) for name, *words in rows("classes")}[name]


@cache
def mapping(name: str) -> dict[str, str]:
    """Return a table of two columns, ``negations`` or ``doubled``."""
    return dict(rows(name))


@cache
def kinds() -> dict[str, str]:
    """Return the kind of each word that is a place, a time or a thing."""
    replaceable = ("city", "country", "province", "language", "sport", "place", *TIMES)
    return {word: kind for kind in reversed(replaceable) for word in entities()[kind]}


@cache
def frames() -> tuple[Frame, ...]:
    """Return the verb frames."""
    return tuple(
        Frame(kind, verb, "ba" in marks, "one" in marks)
        for kind, verb, *rest in rows("frames")
        for marks in ["".join(rest).split(",")]
    )
