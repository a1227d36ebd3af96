"""Words as token ranges, for whole-word masking and for display."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from zh_albert.errors import MissingExtraError
from zh_albert.tokenization.characters import is_chinese, is_letter, is_space, replace_surrogates

Cut = Callable[[str], Iterable[str]]
"""Words of a text in order; concatenated they are the text."""


class Segmenter(NamedTuple):
    """A word segmenter and its library's name, so that results can record which one was used."""

    name: str
    cut: Cut


def segmenter(name: Literal["auto", "rjieba", "jieba"] = "auto") -> Segmenter:
    """Return a word segmenter for Chinese text.

    rjieba is jieba's algorithm and dictionary in Rust: more than ten times as fast, with equal
    results for words with Chinese characters. jieba is the reference, and the fallback of
    ``"auto"``.

    Raises:
        MissingExtraError: If the library (for ``"auto"``: both) is not installed.
    """
    if name != "jieba":
        try:
            import rjieba  # noqa: PLC0415  (an extra)
        except ImportError:
            if name == "rjieba":
                raise MissingExtraError.of("rjieba", "words") from None
        else:
            return Segmenter("rjieba", rjieba.cut)
    try:
        import jieba  # noqa: PLC0415  (an extra)
    except ImportError:
        missing = "jieba" if name == "jieba" else "rjieba"
        raise MissingExtraError.of(missing, "words") from None
    jieba.setLogLevel(logging.WARNING)  # it logs the loading of its dictionary to standard error
    return Segmenter("jieba", jieba.cut)


def word_ranges(text: str, offsets: Sequence[tuple[int, int]], cut: Cut) -> list[range]:
    """Group tokens into words.

    The segmenter decides wherever a Chinese character is involved. Elsewhere, a run of letters and
    digits is one word and every other character is another, whatever the segmenter returns:
    segmenters differ on ``2008-6-1`` or ``Node.js``, and the pieces of an English word belong
    together.

    Args:
        text: The text that was encoded.
        offsets: The tokens' characters in ``text``; see ``Encoding``.
        cut: A ``Segmenter``'s.

    Returns:
        Contiguous token ranges in order: every token is in exactly one. Empty if there are no
        tokens.

    >>> cut = lambda text: ["使用", "语言", "模型"]
    >>> word_ranges("使用语言模型", [(i, i + 1) for i in range(6)], cut)
    [range(0, 2), range(2, 4), range(4, 6)]
    """
    if not offsets:
        return []
    boundaries = set(itertools.accumulate(map(len, cut(replace_surrogates(text)))))
    starts = [0]
    before_end = offsets[0][1]
    for token, (start, end) in enumerate(offsets[1:], start=1):
        if start == before_end and start < len(text) and "\u4e00" <= text[start] <= "\u9fff":
            new = start in boundaries  # by far the most frequent case
        else:
            new = _begins_word(text, before_end, start, boundaries)
        if new:
            starts.append(token)
        before_end = end
    return [range(a, b) for a, b in itertools.pairwise([*starts, len(offsets)])]


def _begins_word(text: str, before_end: int, start: int, boundaries: set[int]) -> bool:
    """Return whether a token at ``start`` starts a word, given the end of the previous token.

    Between them there may be spaces, and characters that normalization dropped.
    """
    if start < before_end or not 0 < before_end <= start < len(text):
        return False  # tokens that share a character, or stand for none
    if any(map(is_space, text[before_end:start])):
        return True
    left, right = text[before_end - 1], text[start]
    if is_chinese(left) or is_chinese(right):
        return any(position in boundaries for position in range(before_end, start + 1))
    return not (is_letter(left) and is_letter(right))
