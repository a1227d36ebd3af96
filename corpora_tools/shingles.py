"""Hashes of every stretch of n characters of a text, by numpy: what de-duplication and
decontamination compare.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zh_albert.tokenization.characters import CHINESE_BLOCKS

Codes = NDArray[np.uint32]
Hashes = NDArray[np.uint64]

_FACTOR = 0x9E3779B97F4A7C15  # odd; its powers are the weights of the positions in a window
_CHINESE = (*CHINESE_BLOCKS, (0x3007, 0x3007))  # and 〇


def code_points(text: str) -> Codes:
    """Return a text's code points, lone surrogates too. Shape: (characters,)."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def chinese_only(codes: Codes) -> NDArray[np.bool_]:
    """Mark the Chinese characters, without punctuation. Shape: (characters,)."""
    chinese = np.zeros(len(codes), np.bool_)
    for first, last in _CHINESE:
        chinese |= codes - np.uint32(first) <= np.uint32(last - first)  # one test: it wraps around
    return chinese


def window_hashes(codes: Codes, width: int) -> Hashes:
    """Hash each n-gram of ``width`` codes. Shape: (characters - width + 1,), or (0,).

    Equal n-grams have equal hashes at any position, in any process and on any machine.

    >>> first, second = window_hashes(code_points("一二三，一二三"), 3)[[0, 4]]
    >>> bool(first == second)
    True
    """
    if len(codes) < width:
        return np.empty(0, np.uint64)
    # Windows are doubled and put together; (hash of a window of `size`) at each place.
    block, size = _mixed(codes.astype(np.uint64)), 1
    hashes: Hashes | None = None
    done = 0
    while True:
        if width & size:
            hashes = block if hashes is None else _joined(hashes, done, block)
            done += size
        if done == width:
            assert hashes is not None
            return _mixed(hashes[: len(codes) - width + 1])
        block = _joined(block, size, block)
        size *= 2


def _joined(left: Hashes, width: int, right: Hashes) -> Hashes:
    """Hash of a window of ``width`` and of the one that begins where it ends."""
    count = min(len(left), len(right) - width)
    return left[:count] + right[width : width + count] * np.uint64(pow(_FACTOR, width, 1 << 64))


def _mixed(values: Hashes) -> Hashes:
    """Spread values over all 64 bits.

    Source: Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators" (SplitMix64).
    """
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
