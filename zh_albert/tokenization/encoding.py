"""Encoded texts and model inputs made of them, independent of any vocabulary."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from zh_albert.errors import ConfigError

_MARKS = ("Mn", "Me")  # without a width of their own


class SpecialIds(NamedTuple):
    """Ids of the five special tokens; except for ``unk``, no text can produce them."""

    pad: int
    unk: int
    cls: int
    sep: int
    mask: int


@dataclass(frozen=True, slots=True)
class Encoding:
    """The tokens of one text, without special tokens.

    ``offsets[i]`` is the range of characters (code points, half-open) of the caller's own string
    that token ``i`` stands for. They ascend and do not overlap, except for tokens that share a
    character whose normalized form has several.
    """

    ids: list[int]
    offsets: list[tuple[int, int]]

    def __len__(self) -> int:
        return len(self.ids)

    def part(self, tokens: range) -> Encoding:
        """Return the tokens of a window; offsets still index the whole text."""
        chosen = slice(tokens.start, tokens.stop)
        return Encoding(self.ids[chosen], self.offsets[chosen])

    def over_marks(self, text: str) -> Encoding:
        """Return the encoding with tokens that reach over the combining marks behind them.

        BERT's normalizer drops marks, so no token stands for those of "e\u0301", which looks like
        "é"; an answer that ends there has to contain them.

        Args:
            text: What was encoded.

        >>> Encoding([7, 8], [(0, 4), (5, 6)]).over_marks("Jose\u0301来").offsets
        [(0, 5), (5, 6)]
        """
        starts = {start for start, _ in self.offsets}
        reaches = {}
        for end in {end for _, end in self.offsets}:
            reach = end
            while reach < len(text) and category(text[reach]) in _MARKS and reach not in starts:
                reach += 1
            if reach > end:
                reaches[end] = reach
        if not reaches:
            return self
        return Encoding(self.ids, [(start, reaches.get(end, end)) for start, end in self.offsets])

    def tokens_at(self, start: int, end: int) -> range:
        """Return the tokens that share a character with the range from ``start`` to ``end``; may be
        empty.

        >>> Encoding([7, 8, 9], [(0, 1), (2, 6), (6, 7)]).tokens_at(3, 7)
        range(1, 3)
        """
        first = bisect_right(self.offsets, start, key=lambda offset: offset[1])
        stop = bisect_left(self.offsets, end, key=lambda offset: offset[0])
        return range(first, max(first, stop))


@dataclass(frozen=True, slots=True)
class ModelInput:
    """Input sequence of the model: ``[CLS] first [SEP]``, then ``second [SEP]`` if it is a pair.

    ``first`` and ``second`` are the positions of the two texts' tokens in ``token_ids``.
    """

    token_ids: list[int]
    type_ids: list[int]
    first: range
    second: range = range(0)

    def __len__(self) -> int:
        return len(self.token_ids)


class PaddedBatch(NamedTuple):
    """A padded batch of inputs. Shape of each: (batch, length)."""

    token_ids: NDArray[np.int64]
    type_ids: NDArray[np.int64]
    mask: NDArray[np.bool_]  # True where a token may be attended to


INPUT_NAMES = PaddedBatch._fields  # the arguments of every network, in this order


def build_input(
    special: SpecialIds, first: Sequence[int], second: Sequence[int] | None = None
) -> ModelInput:
    """Add special tokens to the ids of one text or a pair; nothing is truncated.

    >>> build_input(SpecialIds(pad=0, unk=1, cls=2, sep=3, mask=4), [7, 8], [9])
    ModelInput(token_ids=[2, 7, 8, 3, 9, 3], type_ids=[0, 0, 0, 0, 1, 1], first=range(1, 3), \
second=range(4, 5))
    """
    token_ids = [special.cls, *first, special.sep]
    type_ids = [0] * len(token_ids)
    first_range = range(1, 1 + len(first))
    if second is None:
        return ModelInput(token_ids, type_ids, first_range)
    second_range = range(len(token_ids), len(token_ids) + len(second))
    token_ids += [*second, special.sep]
    type_ids += [1] * (len(second) + 1)
    return ModelInput(token_ids, type_ids, first_range, second_range)


def room_of_each(first: int, second: int, max_tokens: int) -> tuple[int, int]:
    """Return the number of tokens to keep of each text if the longer one is truncated first.

    Args:
        first: Tokens of the first text.
        second: Tokens of the second text.
        max_tokens: Limit of both together, special tokens excluded.

    Raises:
        ConfigError: If ``max_tokens`` is negative.

    >>> room_of_each(10, 3, 9)
    (6, 3)
    >>> room_of_each(10, 10, 9)
    (5, 4)
    """
    if max_tokens < 0:
        raise ConfigError(f"max_tokens must be at least 0, got {max_tokens}")
    half = max_tokens // 2
    if first + second <= max_tokens:
        return first, second
    if second <= half:
        return max_tokens - second, second
    if first <= max_tokens - half:
        return first, max_tokens - first
    return max_tokens - half, half


def windows(encoding: Encoding, max_tokens: int, stride: int) -> list[range]:
    """Divide a text into overlapping windows that together contain every token.

    Each window shares ``stride`` tokens with the previous one. The last one is moved back until it
    is full, so that it has as much context as the others; it may share more.

    Args:
        encoding: The tokens of one text.
        max_tokens: Tokens in a window, special tokens excluded; at least 1.
        stride: Tokens shared by neighbouring windows, from 0 to ``max_tokens - 1``.

    Returns:
        Token ranges in order; exactly one if the text fits (an empty one for an empty text).

    Raises:
        ConfigError: If ``max_tokens`` or ``stride`` is out of range.

    >>> windows(Encoding([0] * 10, []), max_tokens=6, stride=3)
    [range(0, 6), range(3, 9), range(4, 10)]
    """
    if max_tokens < 1:
        raise ConfigError(f"max_tokens must be at least 1, got {max_tokens}")
    if not 0 <= stride < max_tokens:
        raise ConfigError(
            f"stride must be from 0 to max_tokens - 1 = {max_tokens - 1}, got {stride}"
        )
    last = max(len(encoding) - max_tokens, 0)
    starts = [*range(0, last, max_tokens - stride), last]
    return [range(start, min(start + max_tokens, len(encoding))) for start in starts]


def pad(
    batch: Sequence[ModelInput], pad_id: int, *, multiple_of: int = 1, at_most: int | None = None
) -> PaddedBatch:
    """Pad inputs to the length of the longest, on the right.

    Args:
        batch: Inputs of any lengths.
        pad_id: The id of ``[PAD]``; padding has type 0.
        multiple_of: The length is rounded up to a multiple, so that few shapes occur.
        at_most: Limit of the rounding.
    """
    longest = max(map(len, batch), default=0)
    length = -(-longest // multiple_of) * multiple_of
    shape = (len(batch), length if at_most is None else max(longest, min(length, at_most)))
    token_ids = np.full(shape, pad_id, dtype=np.int64)
    type_ids = np.zeros(shape, dtype=np.int64)
    mask = np.zeros(shape, dtype=np.bool_)
    for row, one in enumerate(batch):
        token_ids[row, : len(one)] = one.token_ids
        type_ids[row, : len(one)] = one.type_ids
        mask[row, : len(one)] = True
    return PaddedBatch(token_ids, type_ids, mask)
