"""What a reader or writer decided about a file: a warning, or told to a listener in this thread.

The page speaks other languages and has many readers at once, so it can use neither the sentence of
a warning nor Python's list of recorded warnings, which all threads share.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_MOST = 100  # notes of a file that are kept

_heard: ContextVar[list[FileNote] | None] = ContextVar("heard", default=None)


class FileNote(UserWarning):
    """A decision about a file, as one sentence.

    Args:
        message: The sentence; it names the file.
        kind: "encoding", "title" (above the names of columns), "no_names" (of columns),
            "repeated_header", "left_out" (of annotations); of a workbook "sheet", "formulas"
            (without values), "nameless" (cells in columns without a name); of one that is written
            "cut_text", of a table that is written "lost_field".
        facts: What another sentence of this kind needs.
    """

    def __init__(self, message: str, kind: str, **facts: str | int) -> None:
        super().__init__(message)
        self.kind, self.facts = kind, facts


def tell(note: FileNote) -> None:
    """Warn, or tell the one who listens."""
    heard = _heard.get()
    if heard is None:
        warnings.warn(note, stacklevel=3)
    elif len(heard) < _MOST:
        heard.append(note)


@contextmanager
def listening() -> Iterator[list[FileNote]]:
    """Collect the notes about files that are read here, instead of warning.

    >>> with listening() as notes:
    ...     tell(FileNote("a.csv: read as Big5", "encoding", name="Big5"))
    >>> notes[0].facts
    {'name': 'Big5'}
    """
    notes: list[FileNote] = []
    token = _heard.set(notes)
    try:
        yield notes
    finally:
        _heard.reset(token)
