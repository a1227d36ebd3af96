"""The signs of a text that a model does not know → HTML."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from apps.i18n.page import PageStrings
from apps.markup.text import escape, panel, plain
from zh_albert.tokenization.tokenizer import Tokenizer

_MOST = 12  # signs that are listed
_LONGEST = 8  # characters of one: of signs side by side


def unknown_signs(strings: PageStrings, tokenizer: Tokenizer, texts: Iterable[str]) -> str:
    """Return a note with what is ``[UNK]`` to a model; nothing if all is known.

    Args:
        strings: The page's strings.
        tokenizer: The model's.
        texts: What it read.
    """
    found: dict[str, None] = {}  # each once, in order
    for text in texts:
        encoding = tokenizer.encode(text)
        for token, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
            if token == tokenizer.special.unk:
                found[text[start:end]] = None
    if not found:
        return ""
    signs = " ".join(map(_sign, list(found)[:_MOST]))
    more = f" {escape(strings.more_signs.format(count=len(found) - _MOST))}"
    return panel(
        f'<p class="za-caption za-unknown">{escape(strings.unknown_signs)}{signs}'
        f"{more if len(found) > _MOST else ''}</p>"
    )


def _sign(sign: str) -> str:
    codes = (f"U+{ord(c):04X} {unicodedata.name(c, '')}".strip() for c in sign[:_LONGEST])
    cut = "…" if len(sign) > _LONGEST else ""
    return f'<span title="{escape(", ".join(codes))}">{plain(sign[:_LONGEST])}{cut}</span>'
