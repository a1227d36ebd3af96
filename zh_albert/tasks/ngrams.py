"""N-grams of tokens, by hashes that are the same on every machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zh_albert.tasks.windows import EncodedText

NGRAMS = "ngrams.safetensors"  # in a model folder: what a model knows of n-grams
ORDERS = 3  # single tokens, pairs and triples
MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, of many bits


def hashed_ngrams(ids: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return a hash of each n-gram of a text, shorter ones first. Shape: (n-grams,).

    With a million known n-grams, 0.02 % of the unknown ones are taken for one of them: no harm.
    """
    found = [np.zeros(0, np.uint32)]
    mixed = np.zeros(len(ids), np.uint64)
    for order in range(min(ORDERS, len(ids))):
        mixed = (mixed[: len(ids) - order] + ids[order:] + np.uint64(1)) * MIX
        mixed ^= mixed >> np.uint64(29)
        found.append((mixed >> np.uint64(32)).astype(np.uint32))
    return np.concatenate(found)


def known_places(
    names: NDArray[np.uint32], hashes: NDArray[np.uint32]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Find n-grams among known ones.

    Args:
        names: The known ones, sorted. Shape: (known,).
        hashes: Those looked for. Any shape.

    Returns:
        Where each stands, and whether it is known: only then does its place mean anything. The
        shape of ``hashes``.
    """
    places = np.searchsorted(names, hashes)
    known = places < len(names)
    known[known] = names[places[known]] == hashes[known]
    return places, known


def tokens_of(text: EncodedText) -> NDArray[np.uint64]:
    """Return a text's own tokens, each once, from its windows."""
    ids: list[int] = []
    for window, part in zip(text.windows, text.parts, strict=True):
        ids += window.token_ids[1 + len(ids) - part.start : 1 + len(part)]
    return np.array(ids, np.uint64)
