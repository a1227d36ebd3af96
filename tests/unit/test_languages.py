"""Both languages say the same: same blanks, nothing empty, no Chinese on the English page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from string import Formatter
from typing import Any

from apps.panels import classification_panel
from apps.texts.examples import ENTITIES, HEADLINES, HIDDEN, MASKS, REVIEWS
from apps.texts.languages import CHINESE, ENGLISH, Language
from tests.unit.test_panels import answer

CHINESE_CHARACTER = re.compile("[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")


def strings(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the name and the words of everything a language says."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from strings(one, f"{name}[{key}]")
    elif isinstance(value, tuple):
        for index, one in enumerate(value):
            yield from strings(one, f"{name}[{index}]")
    elif is_dataclass(value):
        for field in fields(value):
            yield from strings(getattr(value, field.name), f"{name}.{field.name}")


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def said(say: Language) -> dict[str, str]:
    names = (field.name for field in fields(say) if field.name != "units")
    return {name: text for one in names for name, text in strings(getattr(say, one), one)}


def test_both_languages_say_the_same_things_with_the_same_blanks() -> None:
    chinese, english = said(CHINESE), said(ENGLISH)

    assert chinese.keys() == english.keys()
    assert all(text.strip() for text in (*chinese.values(), *english.values()))
    assert {name: blanks(text) for name, text in chinese.items()} == {
        name: blanks(text) for name, text in english.items()
    }


def test_the_english_page_is_english_and_the_chinese_one_chinese() -> None:
    left = {name: text for name, text in said(ENGLISH).items() if CHINESE_CHARACTER.search(text)}
    assert left == {"page.switch": "中文"}
    plain = {name for name, text in said(CHINESE).items() if not CHINESE_CHARACTER.search(text)}
    assert plain == {"code", "query", "page.switch"}


def test_panels_speak_the_language_they_are_asked_in() -> None:
    panel = classification_panel(ENGLISH, "很好", [answer({"positive": 0.9, "negative": 0.1})])

    assert set(CHINESE_CHARACTER.findall(panel)) == {"很", "好"}
    assert "Positive" in panel


def test_english_examples_also_say_what_they_mean() -> None:
    for example in (*REVIEWS, *HEADLINES, *ENTITIES, *HIDDEN, *MASKS):
        assert not CHINESE_CHARACTER.search(example.meaning)
        assert CHINESE.caption(example.text, example) == example.text
        assert ENGLISH.caption(example.text, example) == f"{example.text}\n{example.meaning}"
