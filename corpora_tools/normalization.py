"""Normalization of characters: Unicode, width, spaces and punctuation; traditional to simplified.

Full-width Chinese punctuation is kept (NFKC would make ，：！ narrow), and so are line breaks.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Any, Literal, cast, get_args

from zh_albert.errors import ConfigError, MissingExtraError
from zh_albert.tokenization.characters import CHINESE, fold_width

Simplify = Literal["never", "auto", "always"]

_TRADITIONAL = 0.01  # fraction of changed characters above which a text is traditional
_LINE_BREAK = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SPACE = re.compile("[\t \xa0\u1680\u2000-\u200a\u202f\u205f\u3000]+")
_EDGE_OF_LINE = re.compile(r"[ ]*\n[ \n]*")
# Controls, formats (zero-width and directional marks, BOM), surrogates, private use.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\ufeff\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\ue000-\uf8ff"
    "\U000e0000-\U000e0fff\U000f0000-\U0010ffff]+"
)
# Radicals that replace characters in text from PDF files: ⼀ → 一.
_RADICALS = {
    code: unicodedata.normalize("NFKC", chr(code))
    for code in range(0x2E80, 0x2FE0)
    if unicodedata.normalize("NFKC", chr(code)) != chr(code)
}
_RADICAL = re.compile("[\u2e80-\u2fdf]")
# Each pattern starts with a rare character and looks back from it, so that the search is fast.
_SPACE_BETWEEN = re.compile(
    rf" (?<=[{CHINESE}，。！？；：、”’」』）》] )(?=[{CHINESE}，。！？；：、“‘「『（《])"
)
_NARROW = str.maketrans(",;:?!", "，；：？！")
_BEFORE = rf"(?<=[{CHINESE}”’」』）》].)"
_NARROW_MARK = re.compile(rf"[,;:?!]{_BEFORE}[,;:?!]*+(?![A-Za-z0-9/])")
_NARROW_STOP = re.compile(rf"\.{_BEFORE}(?=\n|$)")
_REPEATED = re.compile(r"([！？。，、；：~～·.\-=*_#!?,…—])\1{2,}")


def normalize(text: str) -> str:
    r"""Normalize a text; the function is idempotent.

    Composed characters (NFC), full-width letters and digits in ASCII, radicals as characters, no
    control characters, one kind of space and of line end, no spaces between Chinese characters;
    half-width ``,;:?!`` after a Chinese character in full width, a mark at most three times.

    >>> normalize("ＡＢＣ１２３，　你 好!!\u200b\r\n\r\n第二段,…………")
    'ABC123，你好！！\n第二段，……'
    """
    text = _LINE_BREAK.sub("\n", text)
    text = _UNSEEN.sub("", text)
    if not text.isascii():
        if _RADICAL.search(text):
            text = text.translate(_RADICALS)
        # Composed last: an accent may follow a removed or a formerly wide character.
        text = unicodedata.normalize("NFC", fold_width(text))
    text = _SPACE.sub(" ", text)
    text = _EDGE_OF_LINE.sub("\n", text).strip(" \n")
    text = _NARROW_MARK.sub(lambda match: match.group().translate(_NARROW), text)
    text = _NARROW_STOP.sub("。", text)
    text = _SPACE_BETWEEN.sub("", text)  # last, because it also applies to the widened marks
    return _REPEATED.sub(_shorten, text)


def simplify(text: str, when: Simplify) -> str:
    """Convert traditional characters to simplified ones by OpenCC.

    Args:
        text: Any text.
        when: ``auto`` converts a text if the conversion changes more than 1 % of its characters; so
            a traditional name quoted in simplified text is kept.

    Raises:
        MissingExtraError: If OpenCC is not installed.
    """
    if when == "never" or text.isascii():
        return text
    converted: str = simplifier().convert(text)
    if when == "always" or converted == text:
        return converted
    return converted if _changed(text, converted) > _TRADITIONAL * len(text) else text


@cache
def simplifier() -> Any:
    """Return OpenCC's converter.

    Raises:
        MissingExtraError: If OpenCC is not installed.
    """
    try:
        import opencc  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtraError.of("opencc", "corpora") from None
    return opencc.OpenCC("t2s")


def check_simplify(when: str) -> Simplify:
    """Return a setting of ``simplify``; check for OpenCC if it is needed.

    Raises:
        ConfigError: If there is no such setting.
        MissingExtraError: If OpenCC is needed and not installed.
    """
    if when in get_args(Simplify):
        if when != "never":
            simplifier()
        return cast(Simplify, when)
    raise ConfigError(f"--simplify must be one of {', '.join(get_args(Simplify))}, found {when!r}")


def _changed(text: str, converted: str) -> int:
    """Return the number of differing characters; if lengths differ, all of them."""
    if len(text) != len(converted):
        return max(len(text), len(converted))
    return sum(a != b for a, b in zip(text, converted, strict=True))


def _shorten(match: re.Match[str]) -> str:
    mark = match.group(1)
    return mark * 2 if mark in "…—" else mark * 3
