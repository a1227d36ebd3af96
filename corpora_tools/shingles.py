"""Hashes of all character n-grams of a text, by numpy, for de-duplication and decontamination."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zh_albert.pretraining.counter_rng import GOLDEN, scattered
from zh_albert.tokenization.characters import CHINESE_BLOCKS

Codes = NDArray[np.uint32]
Hashes = NDArray[np.uint64]

_CHINESE = (*CHINESE_BLOCKS, (0x3007, 0x3007))  # and 〇


def chinese_only(codes: Codes) -> NDArray[np.bool_]:
    """Return which code points are Chinese characters, without punctuation. Shape:
    (characters,).
    """
    chinese = np.zeros(len(codes), np.bool_)
    for first, last in _CHINESE:
        chinese |= codes - np.uint32(first) <= np.uint32(last - first)  # one test: unsigned numbers
    return chinese


def window_hashes(codes: Codes, width: int) -> Hashes:
    """Hash each run of ``width`` codes. Shape: (characters - width + 1,), or (0,).

    Equal runs have equal hashes at any place, in any process and on any machine.

    >>> from zh_albert.pretraining.bulk_tokenizer import code_points
    >>> first, second = window_hashes(code_points("一二三，一二三"), 3)[[0, 4]]
    >>> bool(first == second)
    True
    """
    if len(codes) < width:
        return np.empty(0, np.uint64)
    # Hashes of windows of `size` at each place, doubled and combined.
    block, size = scattered(codes.astype(np.uint64)), 1
    hashes: Hashes | None = None
    done = 0
    while True:
        if width & size:
            hashes = block if hashes is None else _joined(hashes, done, block)
            done += size
        if done == width:
            assert hashes is not None
            return scattered(hashes[: len(codes) - width + 1])
        block = _joined(block, size, block)
        size *= 2


def _joined(left: Hashes, width: int, right: Hashes) -> Hashes:
    """Return the hashes of a window of ``width`` combined with the one that follows it."""
    # The weights of places in a window are powers of an odd number.
    count = min(len(left), len(right) - width)
    return left[:count] + right[width : width + count] * np.uint64(pow(GOLDEN, width, 1 << 64))
