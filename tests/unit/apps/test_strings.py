"""Both languages say the same: same blanks, nothing empty, no Chinese on the English page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from string import Formatter
from typing import Any

import apps
from apps.examples import read_examples
from apps.strings import CHINESE, ENGLISH, Strings
from apps.tabs.classification.panels import classification_panel
from tests.helpers.class_answers import class_answer

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


def said(language: Strings) -> dict[str, str]:
    """Return everything that a language says by its name; what tabs share only once."""
    found = dict(strings(language))
    return {
        name: text
        for name, text in found.items()
        if ".page." not in name[1:] and not name.startswith(".page.units")
    }


def test_both_languages_say_the_same_things_with_the_same_blanks() -> None:
    chinese, english = said(CHINESE), said(ENGLISH)

    assert chinese.keys() == english.keys()
    assert all(text.strip() for text in (*chinese.values(), *english.values()))
    assert {name: blanks(text) for name, text in chinese.items()} == {
        name: blanks(text) for name, text in english.items()
    }


def test_the_english_page_is_english_and_the_chinese_one_chinese() -> None:
    left = {name: text for name, text in said(ENGLISH).items() if CHINESE_CHARACTER.search(text)}
    assert left == {".page.switch": "中文"}
    plain = {name for name, text in said(CHINESE).items() if not CHINESE_CHARACTER.search(text)}
    assert plain == {".page.code", ".page.query", ".page.switch"}


def test_panels_speak_the_language_they_are_asked_in() -> None:
    panel = classification_panel(
        ENGLISH.classification, "很好", [class_answer({"positive": 0.9, "negative": 0.1})]
    )

    assert set(CHINESE_CHARACTER.findall(panel)) == {"很", "好"}
    assert "Positive" in panel


def test_english_examples_also_say_what_they_mean() -> None:
    tabs = [path.parent.name for path in Path(apps.__file__).parent.glob("tabs/*/examples.csv")]
    assert len(tabs) == 7
    for examples in (group for tab in tabs for group in read_examples(tab).values()):
        for texts, meaning in examples:
            assert not CHINESE_CHARACTER.search(meaning)
            assert CHINESE.page.caption(texts[0], meaning) == texts[0]
            assert ENGLISH.page.caption(texts[0], meaning) == f"{texts[0]}\n{meaning}"
