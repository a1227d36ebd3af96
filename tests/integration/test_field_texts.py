"""The field texts are what was committed, and in the forms that their README promises."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

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
