"""For the API pages: what stands behind a setting in the source says what it means.

Settings are dataclasses whose fields carry a comment instead of a docstring. This extension of
griffe (which reads the source for mkdocstrings) makes an ``Attributes`` section of them.
"""

from __future__ import annotations

import io
import tokenize
from typing import Any

import griffe


class FieldComments(griffe.Extension):
    """Add the fields of a dataclass, with their comments, to its docstring."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Read one class; one without a docstring, or with such a section, stays as it is."""
        dataclass = any("dataclass" in str(one.value) for one in cls.decorators)
        if not dataclass or cls.docstring is None or "Attributes:" in cls.docstring.value:
            return
        fields = [m for m in cls.members.values() if m.is_attribute and m.annotation is not None]
        if fields:
            comments = _comments(cls)
            rows = [f"    {one.name}: {_told(one, comments)}" for one in fields]
            cls.docstring.value += "\n\nAttributes:\n" + "\n".join(rows)


def _comments(cls: griffe.Class) -> dict[int, str]:
    """Return the comment of each line of the class's file, by line number from 1."""
    source = "\n".join(cls.lines_collection[cls.filepath]) + "\n"
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {t.start[0]: t.string.lstrip("# ") for t in tokens if t.type == tokenize.COMMENT}


def _told(field: griffe.Attribute, comments: dict[int, str]) -> str:
    docstring = " ".join(field.docstring.value.split()) if field.docstring else ""
    comment = docstring or comments.get(field.lineno or 0, "")
    default = (
        "" if field.value is None or "factory" in str(field.value) else f"Default: `{field.value}`."
    )
    ended = comment if not comment or comment.endswith((".", "?")) else f"{comment}."
    return f"{ended[:1].upper()}{ended[1:]} {default}".strip() or "A table."
