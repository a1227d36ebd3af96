"""Character classes, and replacements that keep a string's length.

The length is kept so that offsets into the changed string are offsets into the user's own.
"""

from __future__ import annotations

import re
import unicodedata

_CHINESE_WIDE_PUNCTUATION = "！（），：；？～"
_FOLDED = {
    code: code - 0xFEE0  # from full-width ! to ~, in the order of ASCII
    for code in range(0xFF01, 0xFF5F)
    if chr(code) not in _CHINESE_WIDE_PUNCTUATION
}
_FOLDED[ord("¥")] = ord("￥")  # the one sign of which Chinese text has the wide form
_FOLDABLE = re.compile(f"[{re.escape(''.join(map(chr, _FOLDED)))}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
CHINESE_BLOCKS = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x323AF), (0xF900, 0xFAFF))
CHINESE = "".join(f"{chr(first)}-{chr(last)}" for first, last in CHINESE_BLOCKS)
"""Chinese characters, for use within the brackets of a regular expression."""


def fold_width(text: str) -> str:
    """Convert full-width letters, digits and symbols to ASCII, one character for one.

    Punctuation that is full-width in Chinese (！（），：；？～) is kept, and ¥ becomes ￥.

    >>> fold_width("ＡＢＣ１００％，好！")
    'ABC100%，好！'
    """
    return text.translate(_FOLDED) if _FOLDABLE.search(text) else text


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot hold, by U+FFFD, one character for one."""
    return _SURROGATE.sub("\ufffd", text)


def lower(text: str) -> str:
    """Convert letters to lower case where that keeps the length (not İ)."""
    lowered = text.lower()
    if len(lowered) == len(text):  # İ, the one exception, becomes two
        return lowered
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def is_chinese(character: str) -> bool:
    """Return whether a character is Chinese (punctuation is not).

    >>> is_chinese("中"), is_chinese("𠮷"), is_chinese("。"), is_chinese("カ")
    (True, True, False, False)
    """
    code = ord(character)
    return any(first <= code <= last for first, last in CHINESE_BLOCKS)


def is_letter(character: str) -> bool:
    """Return whether a character is a letter, digit or combining mark, and not Chinese."""
    return unicodedata.category(character)[0] in "LNM" and not is_chinese(character)


def is_space(character: str) -> bool:
    r"""Return whether BERT's normalizer treats a character as a space.

    >>> [is_space(c) for c in " \u3000\n\x1c"]
    [True, True, True, False]
    """
    return character in "\t\n\r" or unicodedata.category(character)[0] == "Z"
