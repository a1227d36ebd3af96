"""The n-gram ensemble member of a classifier: a linear model of TF-IDF over token n-grams.

An n-gram model memorises names and set phrases that a small encoder has to learn; the encoder
models context that a bag of n-grams cannot. Their ensemble is better than either
(docs/experiments/ngrams.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import embedding_bag

from zh_albert.errors import CheckpointError
from zh_albert.tasks.ngrams import MIX, hashed_ngrams, known_places, packed, tokens_of, unpacked
from zh_albert.tasks.windows import EncodedText

_LEVELS = np.float32(127)  # levels of a weight's magnitude in 8 bits
_NEW = np.uint32(0x5BD1E995)  # marks an n-gram that only the second text of a pair has
_MOST_ORDERS = 64  # a text of n tokens has up to n n-grams of each order
_STEPS = 10  # of the feature for the fraction of n-grams in common


@dataclass(frozen=True)
class NgramClassifier:
    """Scores of classes, or a value, from the n-grams of a text or a pair; see ``features_of``.

    Attributes:
        names: Sorted hashes of the known n-grams. Shape: (n-grams,).
        rarity: Inverse document frequency of each n-gram. Shape: (n-grams,).
        weights: Weights for each class; one column for a value. Shape: (n-grams, classes).
        offsets: Added to the scores. Shape: (classes,).
        orders: Largest number of tokens in an n-gram.
    """

    names: NDArray[np.uint32]
    rarity: NDArray[np.float32]
    weights: NDArray[np.float32]
    offsets: NDArray[np.float32]
    orders: int

    def margins(self, texts: Sequence[EncodedText]) -> NDArray[np.float32]:
        """Return the margin of each class, or the value. Shape: (texts, classes)."""
        bags = weighed(counted(texts, self.orders), self.names, self.rarity)
        found = embedding_bag(
            torch.from_numpy(bags.columns),
            torch.from_numpy(self.weights),
            torch.from_numpy(bags.ends[:-1]),
            per_sample_weights=torch.from_numpy(bags.values),
            mode="sum",
        )
        return np.asarray(found.numpy() + self.offsets)

    def to_bytes(self, *, exact: bool = False) -> bytes:
        """Return the content of ``ngrams.npz``: weights in 8 bits, others in half precision.

        Square roots of the weights, relative to the largest of a class, are stored: most weights
        are small, and a text has many of these.

        Args:
            exact: Store all numbers without loss, in four times the space.
        """
        if exact:
            numbers = {"rarity": self.rarity, "weights": self.weights, "offsets": self.offsets}
            return packed(self.names, {**numbers, "orders": np.array(self.orders)})
        largest = np.abs(self.weights).max(0)
        roots = np.sqrt(np.abs(self.weights) / np.where(largest > 0, largest, 1))
        stored = {
            "rarity": self.rarity.astype(np.float16),
            "weights": (np.sign(self.weights) * np.rint(_LEVELS * roots)).astype(np.int8),
            "scales": largest,
            "offsets": self.offsets.astype(np.float16),
            "orders": np.array(self.orders),
        }
        return packed(self.names, stored)

    @classmethod
    def load(cls, path: Path, classes: int) -> NgramClassifier:
        """Read a file written by ``to_bytes``.

        Args:
            path: Path of the file.
            classes: Expected number of classes; 1 for a value.

        Raises:
            CheckpointError: If the file is missing, damaged, or of another model.
        """
        found = unpacked(path)
        try:
            names, *numbers = (found[n] for n in ("names", "rarity", "weights", "offsets"))
        except KeyError as error:
            raise CheckpointError(f"{path}: has no {error}; get the folder again") from None
        orders = found.get("orders", np.array(3))  # format version 1
        rarity, weights, offsets = (np.array(array, np.float32) for array in numbers)
        scales = np.asarray(found.get("scales", np.ones(classes)), np.float32)
        shapes = (rarity.shape, weights.shape, offsets.shape, scales.shape)
        if shapes != ((len(names),), (len(names), classes), (classes,), (classes,)):
            raise CheckpointError(
                f"{path}: expected weights of {len(names)} n-grams for {classes} classes, found "
                f"the shapes {shapes}; get the folder again"
            )
        if orders.shape or orders.dtype.kind not in "iu" or not 1 <= orders <= _MOST_ORDERS:
            raise CheckpointError(
                f"{path}: expected orders to be a whole number of 1 to {_MOST_ORDERS}, "
                f"found {orders.tolist()!r:.50}; get the folder again"
            )
        if "scales" in found:
            weights /= _LEVELS
            magnitudes = np.abs(weights)
            weights *= scales  # in place: there are millions
            weights *= magnitudes
        if not np.isfinite(weights).all():
            raise CheckpointError(
                f"{path}: weights: expected finite numbers, found scales that make infinite ones; "
                "get the folder again"
            )
        return cls(names, rarity, weights, offsets, orders=int(orders))


class Counts(NamedTuple):
    """Features of a text with their counts."""

    hashes: NDArray[np.uint32]
    """Sorted hashes of its features. Shape: (different features,)."""
    often: NDArray[np.uint32]
    """Shape: (different features,)."""


class Bags(NamedTuple):
    """The known n-grams of several texts, concatenated."""

    columns: NDArray[np.int64]
    """Indices of the n-grams. Shape: (n-grams of all texts,)."""
    values: NDArray[np.float32]
    """Weight of each. Shape: (n-grams of all texts,)."""
    ends: NDArray[np.int64]
    """0, then the end of each text. Shape: (texts + 1,)."""


def counted(texts: Sequence[EncodedText], orders: int) -> list[Counts]:
    """Count each text's features; see ``features_of``."""
    found = (np.unique(features_of(text, orders), return_counts=True) for text in texts)
    return [Counts(hashes, often.astype(np.uint32)) for hashes, often in found]


def weighed(
    counts: Sequence[Counts], names: NDArray[np.uint32], rarity: NDArray[np.float32]
) -> Bags:
    """Weight n-grams by (1 + log count) times rarity, with L2 norm 1 for each text."""
    columns: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    often: list[NDArray[np.uint32]] = [np.zeros(0, np.uint32)]
    for own in counts:
        places, known = known_places(names, own.hashes)
        columns.append(places[known])
        often.append(own.often[known])
    ends = np.cumsum([len(found) for found in columns])
    column = np.concatenate(columns)
    values = (1 + np.log(np.concatenate(often))) * rarity[column]
    rows = np.repeat(np.arange(len(counts)), np.diff(ends))
    lengths = np.sqrt(np.bincount(rows, weights=values**2, minlength=len(counts)))
    return Bags(column, (values / lengths[rows]).astype(np.float32), ends)


def features_of(text: EncodedText, orders: int) -> NDArray[np.uint32]:
    """Return the hashes of a text's features. Shape: (features,).

    For a single text: its n-grams, repeated as they occur. For a pair: the n-grams of the second
    text (in natural language inference the hypothesis, which is informative by itself), those that
    only the second has, and the fraction of each text's n-grams that the other has too. For a
    symmetric pair, where neither is the second: the n-grams of both texts, those of only one, and
    the fractions sorted by size.
    """
    if not text.windows[0].second:
        return hashed_ngrams(tokens_of(text), orders)
    sides: tuple[list[list[int]], list[list[int]]] = [], []
    for reading, order in zip(text.readings, ((0, 1), (1, 0)), strict=False):
        for window in reading.windows:
            for side, part in zip(order, (window.first, window.second), strict=True):
                sides[side].append(window.token_ids[part.start : part.stop])
    first, second = (_ngrams_of(parts, orders) for parts in sides)
    shared = np.intersect1d(first, second, assume_unique=True)
    reached = [round(_STEPS * len(shared) / len(side)) + 1 for side in (first, second)]
    if text.turned is not None:
        own, new, reached = shared, np.setxor1d(first, second, assume_unique=True), sorted(reached)
    else:
        own, new = second, np.setdiff1d(second, shared, assume_unique=True)
    steps = [np.arange(count) + (_STEPS + 1) * side for side, count in enumerate(reached)]
    hashes = (np.concatenate(steps).astype(np.uint64) + np.uint64(1)) * MIX >> np.uint64(32)
    return np.concatenate([own, new ^ _NEW, hashes.astype(np.uint32)])


def _ngrams_of(parts: list[list[int]], orders: int) -> NDArray[np.uint32]:
    """Return the distinct n-grams of a text from its parts in windows. Shape: (n-grams,)."""
    return np.unique(
        np.concatenate([hashed_ngrams(np.array(ids, np.uint64), orders) for ids in parts])
    )
