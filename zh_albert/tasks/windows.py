"""Overlapping windows over texts of any length.

Every task reads long texts in overlapping windows and merges the outputs, so that no text is
truncated; a text that fits in one window is read as without windows. Classification, multiple
choice and sentence vectors average a long text's outputs over its windows, weighted by their
tokens, in training and in prediction. For choices the odds are averaged, because the evidence for a
choice is mostly in one window, which the others must not outvote
(docs/experiments/multiple-choice.md).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from zh_albert.errors import ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.tokenization.encoding import (
    INPUT_NAMES,
    Encoding,
    ModelInput,
    SpecialIds,
    build_input,
    pad,
    room_of_each,
    windows,
)
from zh_albert.training.batching import Size


@dataclass(frozen=True, kw_only=True)
class WindowConfig:
    """Settings of the overlapping windows over long texts."""

    max_length: int = 128  # tokens of one window, [CLS] and [SEP] among them
    stride: int = 32  # tokens that neighbouring windows share

    def __post_init__(self) -> None:
        if not 0 <= self.stride < self.max_length - 2:
            raise ConfigError(
                f"stride ({self.stride}) must be >= 0 and less than max_length - 2 "
                f"({self.max_length - 2})"
            )

    def refuse_longer_than(self, config: AlbertConfig) -> None:
        """Check that the encoder has position embeddings for every token of a window.

        Raises:
            ConfigError: If windows are too long.
        """
        if self.max_length > config.max_position_embeddings:
            raise ConfigError(
                f"max_length ({self.max_length}) must not exceed the encoder's "
                f"max_position_embeddings ({config.max_position_embeddings})"
            )


@dataclass(frozen=True, slots=True)
class EncodedText:
    """The windows of a text, or of a pair, as model inputs.

    Attributes:
        windows: The model inputs.
        parts: The tokens of the text (for a pair, of the first text) in each window.
        turned: Index of the first window with the pair in reverse order; None: there is none.
        differs: How surely a pair that looks alike says different things, from 0 to 1; 0 where that
            is not looked for.
    """

    windows: list[ModelInput]
    parts: list[range]
    turned: int | None = None
    differs: float = 0.0

    @property
    def readings(self) -> list[EncodedText]:
        """The text itself; for a pair in both orders, each order separately."""
        if self.turned is None:
            return [self]
        orders = slice(self.turned), slice(self.turned, None)
        return [EncodedText(self.windows[order], self.parts[order]) for order in orders]

    def drawn(self, tokens: int, rng: random.Random) -> EncodedText:
        """Return the text, or a random sample of its windows if it has more tokens.

        This bounds the memory of a training batch.

        Args:
            tokens: Limit on padded tokens; a single window may have more.
            rng: Random generator for the sample.
        """
        rows = self.size.within(tokens).rows
        if rows == len(self.windows):
            return self
        kept = sorted(rng.sample(range(len(self.windows)), rows))
        return EncodedText([self.windows[w] for w in kept], [self.parts[w] for w in kept])

    @property
    def size(self) -> Size:
        """Its size in a batch."""
        return Size(rows=len(self.windows), length=max(map(len, self.windows)))

    @property
    def tokens(self) -> int:
        """Tokens of all windows."""
        return sum(map(len, self.windows))

    @property
    def text_tokens(self) -> int:
        """Tokens of the text itself, each counted once."""
        return self.parts[-1].stop


def encode_windows(encoding: Encoding, special: SpecialIds, window: WindowConfig) -> EncodedText:
    """Cut one text's tokens into windows."""
    parts = windows(encoding, window.max_length - 2, window.stride)
    inputs = [build_input(special, encoding.part(part).ids) for part in parts]
    return EncodedText(inputs, parts)


def encode_pair(
    first: Encoding, second: Encoding, special: SpecialIds, window: WindowConfig
) -> EncodedText:
    """Cut a pair's tokens into windows that each contain parts of both texts.

    If a pair does not fit in one window, a text of up to half a window is complete in every window,
    and the rest of the room goes to windows over the other text. Two longer texts get half each,
    and their windows advance in parallel from the beginnings to the ends. So nothing is truncated,
    and the number of windows is what the longer text needs.

    Raises:
        ConfigError: If a window has no room for a token of each.
    """
    room = window.max_length - 3
    if room < 2:
        raise ConfigError(f"max_length must be at least 5 for pairs, got {window.max_length}")
    rooms = room_of_each(len(first), len(second), room)
    lefts, rights = (
        windows(text, tokens, min(window.stride, tokens // 2))
        for text, tokens in zip((first, second), rooms, strict=True)
    )
    count = max(len(lefts), len(rights))
    parts = [lefts[index * len(lefts) // count] for index in range(count)]
    others = [rights[index * len(rights) // count] for index in range(count)]
    inputs = [
        build_input(special, first.part(part).ids, second.part(other).ids)
        for part, other in zip(parts, others, strict=True)
    ]
    return EncodedText(inputs, parts)


def encode_mirrored(
    first: Encoding, second: Encoding, special: SpecialIds, window: WindowConfig
) -> EncodedText:
    """Cut a pair's tokens into windows, first in this order, then the other way round.

    Raises:
        ConfigError: See ``encode_pair``.
    """
    there = encode_pair(first, second, special, window)
    back = encode_pair(second, first, special, window)
    inputs, parts = there.windows + back.windows, there.parts + back.parts
    return EncodedText(inputs, parts, turned=len(there.windows))


def pad_windows(inputs: Sequence[ModelInput], pad_id: int) -> dict[str, Tensor]:
    """Pad windows into one batch.

    Returns:
        The tensors of ``INPUT_NAMES``. Shape of each: (windows, length).
    """
    return {name: torch.from_numpy(a) for name, a in pad(inputs, pad_id)._asdict().items()}


def collate_windows(texts: Sequence[EncodedText], pad_id: int) -> dict[str, Tensor]:
    """Pad the windows of several texts into one batch.

    Returns:
        ``token_ids``, ``type_ids``, ``mask``: Shape: (windows, length). ``owner``: the text of
        each window; ``share``: its share of the text's tokens. Shape: (windows,).
    """
    inputs = [window for text in texts for window in text.windows]
    owner = [index for index, text in enumerate(texts) for _ in text.windows]
    share = [len(window) / text.tokens for text in texts for window in text.windows]
    return {
        **pad_windows(inputs, pad_id),
        "owner": torch.tensor(owner),
        "share": torch.tensor(share),
    }


def merged_outputs(
    module: nn.Module, inputs: Mapping[str, Tensor], texts: int, *, odds: bool = False
) -> Tensor:
    """Run the network and merge the windows of each text.

    Args:
        module: Takes ``INPUT_NAMES`` and returns a row for each window: logits, or a vector.
        inputs: The result of ``collate_windows``.
        texts: Number of texts in the batch.
        odds: Average the exponentials of the outputs, and return the logarithm of that.

    Returns:
        Shape: (texts, width).
    """
    outputs: Tensor = module(*(inputs[name] for name in INPUT_NAMES))
    counted = outputs.double().exp() if odds else outputs.float()
    weighted = counted * inputs["share"][:, None]
    merged = weighted.new_zeros(texts, outputs.shape[-1]).index_add(0, inputs["owner"], weighted)
    return merged.log().float() if odds else merged
