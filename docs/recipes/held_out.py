"""Texts of dev and test files, which no training file may hold; the recipes beside import this."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import Any

from zh_albert.tables.objects import read_objects

FIELDS = ("text", "text_a", "text_b", "context", "question", "corrected")


def plain(text: str) -> str:
    """Return a text without punctuation, width and case, for comparison."""
    return re.sub(r"\W", "", unicodedata.normalize("NFKC", text).lower())


def held_out(tasks: Path) -> set[str]:
    """Return every text of dev and test files, as ``plain`` makes it."""
    return {
        plain(text)
        for split in ("dev", "test", "trial")
        for path in tasks.glob(f"*/{split}.jsonl*")
        for _, row in read_objects(path)
        for text in map(row.get, FIELDS)
        if isinstance(text, str)
    }


def train_file(tasks: Path, name: str) -> Path:
    """Return a dataset's training file, packed or not."""
    return next((tasks / name).glob("train.jsonl*"))


def train_rows(tasks: Path, name: str) -> list[dict[str, Any]]:
    """Return the objects of a dataset's training file."""
    return [row for _, row in read_objects(train_file(tasks, name))]
