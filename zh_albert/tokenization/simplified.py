"""Encoding of traditional characters as simplified ones, by OpenCC, with offsets into the
original.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from zh_albert.errors import MissingExtraError
from zh_albert.tokenization.characters import replace_surrogates
from zh_albert.tokenization.encoding import Encoding
from zh_albert.tokenization.tokenizer import Tokenizer


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


def encode_simplified(tokenizer: Tokenizer, texts: Iterable[str]) -> list[Encoding]:
    """Encode texts as if they were written in simplified characters.

    Offsets index the original texts, so any span found in them is a slice of the original.

    Raises:
        MissingExtraError: If OpenCC is not installed.
    """
    convert = simplifier().convert
    result = []
    for text in texts:
        original = replace_surrogates(text)  # OpenCC reads UTF-8, which cannot hold them
        converted: str = convert(original)
        if len(converted) == len(original):  # one character for one: same offsets
            result.append(tokenizer.encode(converted))
            continue
        # Converted one by one, each original character is known.
        pieces = [convert(character) for character in original]
        encoding = tokenizer.encode("".join(pieces))
        origin = [place for place, piece in enumerate(pieces) for _ in piece]
        offsets = [(origin[start], origin[end - 1] + 1) for start, end in encoding.offsets]
        result.append(Encoding(encoding.ids, offsets))
    return result
