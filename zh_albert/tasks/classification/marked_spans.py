"""Pronoun resolution as text classification: both spans are marked in the text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from zh_albert.errors import DataError


def mark_spans(text: str, first: range, second: range) -> str:
    """Put ``_`` around the first span and ``[ ]`` around the second.

    The spans may be in any order and may be nested. CLUE's baseline for CLUEWSC uses the same
    marks.

    >>> mark_spans("小明说他饿了", range(0, 2), range(3, 4))
    '_小明_说[他]饿了'
    """
    # At one place ends come before beginnings, the inner end and the outer beginning first.
    starts = [(first.start, 1, -len(first), "_"), (second.start, 1, -len(second), "[")]
    ends = [(second.stop, 0, len(second), "]"), (first.stop, 0, len(first), "_")]
    for place, _, _, mark in sorted(starts + ends, key=lambda mark: mark[:3], reverse=True):
        text = text[:place] + mark + text[place:]
    return text


def text_with_marks(row: dict[str, Any], text: str, source: Path | str, line: int) -> str:
    """Return the marked text of a row of a coreference file, ``{"text", "span1", "span2"}``.

    Raises:
        DataError: If a span is missing, or its text differs from the slice at its offsets.
    """
    return mark_spans(text, *(_span(row.get(name), name, text, source, line) for name in _NAMES))


_NAMES = ("span1", "span2")


def _span(span: Any, name: str, text: str, source: Path | str, line: int) -> range:
    match span:
        case {"text": str(piece), "start": int(start)} if piece:
            found = range(start, start + len(piece))
            if start >= 0 and text[start : found.stop] == piece:
                return found
            problem = f'"{name}" says {piece!r}, but the text from {start} on is'
            there = text[max(start, 0) : max(found.stop, 0)]
            raise DataError.at(
                source, line, f"{problem} {there!r}", hint="Offsets count characters"
            )
        case _:
            problem = f'"{name}" must be {{"text": …, "start": …}}, found {span!r:.80}'
            raise DataError.at(source, line, problem)
