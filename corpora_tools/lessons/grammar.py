"""Sentences of an own grammar: each meaning in several forms, beside other meanings in theirs.

The meanings are in ``words/meanings.txt``. Those of one pair are told in the same forms, so that
only who stands where, a negation, an opposite or a number tells them apart.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from corpora_tools.lessons import tables
from corpora_tools.lessons.numbers import in_chinese
from corpora_tools.lessons.sentence import Relation

Forms = Sequence[str]

_OPENINGS = (
    "听说",
    "据说",
    "我听说",
    "新闻里说，",
    "朋友告诉我，",
    "大家都知道，",
    "他说",
    "我记得",
)
_QUESTIONS = ("actions", "abilities")
_PLAIN = (*_QUESTIONS, "permission", "position", "conditions")  # said without an opening


class Altered(NamedTuple):
    """Another meaning near the first, in its forms.

    Attributes:
        relation: What the first meaning says about it.
        score: Similarity of the two meanings, 0 to 5.
    """

    kind: str
    relation: Relation
    score: float
    forms: Forms


class Meaning(NamedTuple):
    """A meaning in its forms, and other meanings."""

    kind: str
    forms: Forms
    altered: Sequence[Altered]


@dataclass
class Pattern:
    """A block of the table."""

    kind: str
    cases: list[list[str]] = field(default_factory=list)
    forms: list[str] = field(default_factory=list)
    exchanges: list[tuple[dict[str, str], list[str]]] = field(default_factory=list)
    others: list[tuple[list[str], list[str]]] = field(default_factory=list)  # label and its forms


@cache
def patterns() -> tuple[Pattern, ...]:
    """Read the table of meanings."""
    found: list[Pattern] = []
    forms: list[str] = []
    for word, *rest in tables.rows("meanings"):
        if word == "meaning":
            found.append(Pattern(rest[0]))
            forms = found[-1].forms
        elif word == "case":
            found[-1].cases.append(rest)
        elif word == "form":
            forms.append(rest[0])
        elif word == "as":
            exchange = dict(one.split("=") for one in rest[:-3])
            found[-1].exchanges.append((exchange, rest[-3:]))
        else:
            forms = []
            found[-1].others.append((rest, forms))
    return tuple(found)


def make_meaning(rng: random.Random, *, questions: bool = True) -> Meaning:
    """Draw a meaning; an opening before it, now and then, is the same in all its forms.

    Args:
        rng: Draws.
        questions: Whether it may be one of a question.
    """
    pattern = rng.choice([one for one in patterns() if questions or one.kind not in _QUESTIONS])
    values: dict[str, str] = {}
    for variables in rng.choice(pattern.cases):
        values |= _draw(variables, rng)
    plain = pattern.kind in _PLAIN or rng.random() < 0.5
    opening = "" if plain else rng.choice(_OPENINGS)

    def written(forms: Forms, values: dict[str, str]) -> Forms:
        numbers = {f"{name}_zh": _in_words(value) for name, value in values.items()}
        return [opening + form.format_map(values | numbers) for form in forms]

    def altered(label: Sequence[str], forms: Forms, values: dict[str, str]) -> Altered:
        kind, relation, score = label
        relation = values["swapped"] if relation == "frame" else relation
        return Altered(kind, relation, float(score), written(forms, values))  # type: ignore[arg-type]

    exchanged = [
        altered(label, pattern.forms, values | {old: values[new] for old, new in exchange.items()})
        for exchange, label in pattern.exchanges
    ]
    others = [altered(label, forms, values) for label, forms in pattern.others]
    return Meaning(pattern.kind, written(pattern.forms, values), [*exchanged, *others])


def _draw(variables: str, rng: random.Random) -> dict[str, str]:
    """Draw the values of variables; see the head of the table.

    >>> sorted(_draw("a/b=贵/便宜", random.Random(1)).items())
    [('a', '贵'), ('b', '便宜')]
    """
    either = "~" in variables
    left, _, right = variables.replace("~", "=").partition("=")
    names = left.replace("/", ",").split(",")
    if right.startswith("frame:"):
        return _draw_frame(names, right, rng)
    if right.startswith("under:"):
        general = rng.choice(right.removeprefix("under:").split(","))
        below = [word for word, more in tables.hypernyms().items() if general in more]
        return dict(zip(names, [*rng.sample(below, len(names) - 1), general], strict=True))
    if "/" in left:
        pair = rng.choice(right.split(",")).split("/")
        return dict(zip(names, pair[::-1] if either and rng.random() < 0.5 else pair, strict=True))
    if right[0].isdigit():
        limits, _, step = right.partition("/")
        first, last = map(int, limits.split("-"))
        drawn = map(str, rng.sample(range(first, last + 1, int(step or 1)), len(names)))
        return dict(zip(names, drawn, strict=True))
    if right.isascii():
        return dict(zip(names, draw_names(right, len(names), rng), strict=True))
    return dict(
        zip(
            names, [one.strip("-") for one in rng.sample(right.split(","), len(names))], strict=True
        )
    )


def _draw_frame(names: list[str], mark: str, rng: random.Random) -> dict[str, str]:
    short = mark == "frame:short"
    fitting = [one for one in tables.frames() if (len(one.verb) < 3 if short else one.disposal)]
    frame = rng.choice(fitting)
    swapped = "contradiction" if frame.one_way else "neutral"
    drawn = dict(zip(names, draw_names(frame.kind, len(names), rng), strict=True))
    return drawn | {"verb": frame.verb, "swapped": swapped}


def draw_names(kind: str, count: int, rng: random.Random) -> list[str]:
    """Draw different words of a kind of entities; persons by name, title or occupation."""
    way = rng.random()
    if kind == "name" or (kind == "person" and way < 0.6):
        surnames = rng.sample(tables.entities()["surname"], count)
        if way < 0.2:
            return [f"小{one}" for one in surnames]
        part = "given" if way < 0.4 or kind == "name" else "title"
        return [one + rng.choice(tables.entities()[part]) for one in surnames]
    before = {"product": "这款", "place": "那个", "animal": "那只", "fruit": "这家店的"}.get(
        kind, ""
    )
    return [
        (before if way < 0.3 else "") + one for one in rng.sample(tables.entities()[kind], count)
    ]


def _in_words(value: str) -> str:
    if not value.isdigit():
        return value
    return "两" if value == "2" else in_chinese(int(value))
