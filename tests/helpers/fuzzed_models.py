"""Bundled models asked with odd strings: what they answer is checked against the string itself."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from tests.golden.comparison.answers import plain
from tests.golden.comparison.texts import COMMON, LATIN, MASK, ODD, TRADITIONAL
from tests.helpers.same_answers import ASKED, same
from zh_albert import load
from zh_albert.errors import DataError
from zh_albert.files.textio import encode_json
from zh_albert.inference.fill_mask import Spot
from zh_albert.tasks.ner.predictor import Entity
from zh_albert.tasks.reading.predictor import Answer

# Ranges of characters, drawn from as often as each other.
_RANGES = (
    (0x00, 0x7F),
    (0x80, 0x24F),
    (0x300, 0x36F),  # accents that join the character before
    (0x2000, 0x206F),  # spaces and signs that are not seen
    (0x2E80, 0x303F),
    (0x3040, 0x31FF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7A3),
    (0xD800, 0xDFFF),  # halves of surrogate pairs
    (0xF900, 0xFAFF),
    (0xFE00, 0xFFFF),
    (0x1F000, 0x1FAFF),
    (0x20000, 0x2FA1F),
    (0xE0000, 0xE01EF),
    (0x00, 0x10FFFF),
)
_ASKED_AT_ONCE = 500


def odd_string(rng: random.Random) -> str:
    """Return a string of zero to six pieces: sentences, signs, characters of any kind."""
    return "".join(_piece(rng) for _ in range(rng.randint(0, 6)))


def fuzz(name: str, count: int) -> tuple[int, list[str]]:
    """Ask a bundled model with that many odd strings, twice, the second time in another order.

    Returns:
        Number of strings, and what was wrong: an answer that is not of the string, that JSON cannot
        hold, or that is another the second time; an error that is not about the string.
    """
    rng = random.Random(name)
    kind = ASKED.get(name, "texts")
    failures: list[str] = []
    predictor: Any = load(name)
    for start in range(0, count, _ASKED_AT_ONCE):
        asked = [_content(rng, kind) for _ in range(min(_ASKED_AT_ONCE, count - start))]
        answers = list(predictor.stream(asked))
        again = list(predictor.stream(asked[::-1]))[::-1]
        for content, answer, second in zip(asked, answers, again, strict=True):
            problems = [*_problems(predictor, content, answer)]
            if not same(plain(answer), plain(second), 2.1e-6 if kind == "masks" else 0):
                problems.append("another answer the second time")
            failures += [f"{name}: {json.dumps(content)}: {problem}" for problem in problems]
    return count, failures


def _problems(predictor: Any, content: Any, answer: Any) -> Iterator[str]:
    if isinstance(answer, Exception):
        if not isinstance(answer, DataError) or "\n" in str(answer):
            yield repr(answer)
        return
    encode_json(predictor.row(answer))
    for found in answer if isinstance(answer, list) else [answer]:
        match found:
            case Entity():
                right = content[found.start : found.end] == found.text != ""
            case Answer():
                right = content[1][found.start : found.end] == found.text
            case Spot():
                right = set(content[found.start : found.end].split(MASK)) == {""}
            case _:
                continue
        if not right or not 0 <= found.start <= found.end:
            yield f"no slice of it: {found}"


def _content(rng: random.Random, kind: str) -> Any:
    first = odd_string(rng)
    match kind:
        case "texts":
            return first
        case "masks":
            place = rng.randint(0, len(first))
            return first[:place] + MASK * rng.choice((1, 1, 1, 2)) + first[place:]
        case _:
            return first, odd_string(rng)


def _piece(rng: random.Random) -> str:
    match rng.randrange(6):
        case 0:
            return rng.choice(ODD)[:40]
        case 1:
            return rng.choice(TRADITIONAL)
        case 2:
            return rng.choice(LATIN)
        case 3:
            return "".join(rng.choices(COMMON, k=rng.randint(1, 20)))
        case _:
            first, last = rng.choice(_RANGES)
            return "".join(chr(rng.randint(first, last)) for _ in range(rng.randint(1, 8)))
