"""Counter-based random numbers: a function of where they are used, without state or order.

A draw is a hash of (seed, epoch, instance) and a place inside the instance. So a batch can be drawn
in one numpy call and any single instance alone, by any number of workers, with the same result.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]

GOLDEN = 0x9E3779B97F4A7C15  # 2⁶⁴ / the golden ratio; odd
_WORD = 2**64


def mix(values: Keys) -> Keys:
    """Scatter each value over all 64 bits (a splitmix64 step).

    Source: Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators", figure 16.
    """
    return scattered(values + np.uint64(GOLDEN))


def scattered(values: Keys) -> Keys:
    """Scatter each value over all 64 bits by the last steps of splitmix64; 0 stays 0."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def keys(seed: int, epoch: int, numbers: NDArray[np.integer]) -> Keys:
    """Return one key for each instance (or document, or batch) of an epoch. Shape: that of
    ``numbers``.

    >>> keys(1, 0, np.arange(2)).tolist() == [keys(1, 0, np.array([i]))[0] for i in range(2)]
    True
    """
    root = mix(mix(np.array([seed % _WORD], np.uint64)) + np.uint64(epoch))
    return mix(root ^ mix(numbers.astype(np.uint64)))


def draw(keys: Keys, stream: int, places: NDArray[np.integer] | int = 0) -> Keys:
    """Return 64 random bits for each key and place; different streams are independent."""
    salt = np.uint64((stream + 1) * GOLDEN % _WORD)
    return mix((keys ^ salt) + np.asarray(places).astype(np.uint64) * np.uint64(0xD6E8FEB86659FD93))


def uniform(bits: Keys) -> NDArray[np.float64]:
    """Convert random bits into numbers in [0, 1)."""
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def below(bits: Keys, limits: NDArray[np.integer] | int) -> NDArray[np.int64]:
    """Convert random bits into integers from 0 to ``limits - 1``; limits must be below 2³¹."""
    high = bits >> np.uint64(32)  # the product of two 32-bit numbers fits
    return ((high * np.asarray(limits).astype(np.uint64)) >> np.uint64(32)).astype(np.int64)
