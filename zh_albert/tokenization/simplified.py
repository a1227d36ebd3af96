"""Traditional characters read as simplified ones, one character for one.

``simplified.tsv`` has the characters, then the phrases in which a character means something else
(乾隆 stays, 乾燥 is 干燥). It is derived from the dictionaries of OpenCC (Apache License 2.0) by
``docs/recipes/simplified_table.py``.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class _Table(NamedTuple):
    """The table in the form it is used in."""

    characters: dict[int, str]
    phrases: dict[str, str]
    unmistakable: re.Pattern[str]  # a character that simplified text does not have
    phrase: re.Pattern[str]


def simplified(text: str) -> str:
    """Replace traditional characters by simplified ones; the length stays.

    A text without any character that is only traditional is returned as it is: 著 and 乾 stand in
    simplified text, too.

    >>> simplified("他看著乾隆的名著，頭髮乾燥")
    '他看着乾隆的名著，头发干燥'
    >>> simplified("他的著作")
    '他的著作'
    """
    if text.isascii():
        return text
    table = _table()
    if not table.unmistakable.search(text):
        return text
    parts: list[str] = []
    done = 0
    for found in table.phrase.finditer(text):
        parts += text[done : found.start()].translate(table.characters), table.phrases[found[0]]
        done = found.end()
    return "".join([*parts, text[done:].translate(table.characters)])


@cache
def _table() -> _Table:
    characters: dict[int, str] = {}
    phrases: dict[str, str] = {}
    content = (files("zh_albert.tokenization") / "simplified.tsv").read_text(encoding="utf-8")
    for line in content.splitlines():
        traditional, simple = line.split("\t")
        if len(traditional) == 1:
            characters[ord(traditional)] = simple
        else:
            phrases[traditional] = simple
    unmistakable = "".join(c for c in map(chr, characters) if not _is_simplified(c))
    longest_first = sorted(phrases, key=len, reverse=True)
    return _Table(
        characters, phrases, re.compile(f"[{unmistakable}]"), re.compile("|".join(longest_first))
    )


def _is_simplified(character: str) -> bool:
    """Return whether a character is of GB 2312, the common simplified ones."""
    try:
        return bool(character.encode("gb2312"))
    except UnicodeEncodeError:
        return False
