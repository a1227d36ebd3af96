"""The field texts are what was committed, and in the forms that their README promises."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zh_albert.tables.objects import read_objects

FIELD = Path(__file__).parents[1] / "field"
SUMS = dict(
    reversed(line.split()) for line in (FIELD / "SHA256SUMS").read_text("utf-8").splitlines()
)


def test_every_file_has_a_sum() -> None:
    assert {path.name for path in FIELD.glob("*.jsonl")} == SUMS.keys()


@pytest.mark.parametrize("name", sorted(SUMS))
def test_texts_are_unchanged_different_and_enough_of_each_kind(name: str) -> None:
    path = FIELD / name
    assert hashlib.sha256(path.read_bytes()).hexdigest() == SUMS[name]
    rows = [row for _, row in read_objects(path)]
    texts = {tuple(row.get(field) for field in ("text", "text_b", "question")) for row in rows}
    assert len(texts) == len(rows)
    assert min(Counter(row["kind"] for row in rows).values()) >= 15
    for row in rows:
        for entity in row.get("entities", []):
            slice_ = row["text"][entity["start"] : entity["end"]]
            assert slice_ == slice_.strip() != ""
        if name == "reader.jsonl":
            for answer in row["answers"]:
                assert row["context"].startswith(answer["text"], answer["start"])
        if name == "fills.jsonl":
            masks = row["text"].count("[MASK]")
            assert row["text"].count("[MASK]" * masks) == 1
            assert {len(filling) for filling in row["answers"]} == {masks}


ROOT = FIELD.parents[1]
TEMPLATES = [
    *(ROOT / "docs" / "recipes" / "lessons").glob("*.toml"),
    *(ROOT / "docs" / "recipes").glob("*.py"),
    *(ROOT / "corpora_tools" / "lessons" / "words").glob("*.txt"),
]
ALIKE = 6  # Chinese characters in a row


def strings_of(value: Any) -> Iterator[str]:
    """Yield all strings of a JSON value."""
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from strings_of(item)
        case dict():
            for item in value.values():
                yield from strings_of(item)


def stretches(text: str) -> set[str]:
    """Return the runs of Chinese characters that two texts must not both have."""
    return {
        run[start : start + ALIKE]
        for run in re.findall("[一-龥]+", text)
        for start in range(len(run) - ALIKE + 1)
    }


def test_no_template_of_a_lesson_shares_a_phrase_with_them() -> None:
    field = {
        stretch
        for name in SUMS
        for _, row in read_objects(FIELD / name)
        for text in strings_of(row)
        for stretch in stretches(text)
    }
    assert len(field) > 10_000
    assert len(TEMPLATES) > 20
    shared = {path.name: stretches(path.read_text("utf-8")) & field for path in TEMPLATES}
    assert {name: found for name, found in shared.items() if found} == {}
