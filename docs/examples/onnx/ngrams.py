"""The n-gram model beside a network (``ngrams.npz``), in NumPy: the examples add what it says.

A folder without the file has no such model; docs/formats.md describes the file.
"""

from pathlib import Path

import numpy as np

MIX, NEW, STEPS = np.uint64(0x9E3779B97F4A7C15), np.uint32(0x5BD1E995), 10


def opened(folder):
    """Return the arrays of the file, or none."""
    path = Path(folder, "ngrams.npz")
    if not path.exists():
        return {}
    stored = dict(np.load(path))
    steps = np.ascontiguousarray(stored["names"].T).view("<u4")[:, 0]
    return stored | {"names": np.cumsum(steps, dtype=np.uint32)}


def hashed(ids, orders):
    """Return a hash of each n-gram of up to ``orders`` tokens: an array for each length."""
    ids, found = np.array(ids, np.uint64), []
    mixed = np.zeros(len(ids), np.uint64)
    for order in range(min(orders, len(ids))):
        mixed = (mixed[: len(ids) - order] + ids[order:] + np.uint64(1)) * MIX
        mixed ^= mixed >> np.uint64(29)
        found.append((mixed >> np.uint64(32)).astype(np.uint32))
    return found


def margins(model, first, second=None):
    """Return what a classifier adds for the tokens of a text or a pair. Shape: (labels,)."""
    orders = int(model.get("orders", 3))
    features = np.concatenate(hashed(first, orders))
    if second is not None:
        sides = [np.unique(features), np.unique(np.concatenate(hashed(second, orders)))]
        shared = np.intersect1d(*sides)
        reached = [round(STEPS * len(shared) / len(side)) + 1 for side in sides]
        steps = np.concatenate([np.arange(n) + (STEPS + 1) * i for i, n in enumerate(reached)])
        marks = (steps.astype(np.uint64) + np.uint64(1)) * MIX >> np.uint64(32)
        only = np.setdiff1d(sides[1], shared) ^ NEW
        features = np.concatenate([sides[1], only, marks.astype(np.uint32)])
    hashes, often = np.unique(features, return_counts=True)
    known = np.isin(hashes, model["names"])
    places = np.searchsorted(model["names"], hashes[known])
    values = (1 + np.log(often[known])) * model["rarity"][places].astype(float)
    roots = model["weights"][places] / 127.0
    weights = roots * np.abs(roots) * model["scales"]
    return values / (np.linalg.norm(values) or 1) @ weights + model["offsets"]


def tag_scores(model, ids):
    """Return a tagger's scores for the tokens of a text. Shape: (tokens, tags)."""
    vectors = np.zeros((len(ids) + 4, 3, 12))
    for order, hashes in enumerate(hashed([0, *ids, 0], 3)):
        known = np.isin(hashes, model["names"])
        places = np.searchsorted(model["names"], hashes[known])
        vectors[1:][: len(hashes)][known, order] = model["vectors"][places] * model["scales"]
    near = model["near.weight"].astype(float)
    flat = vectors.reshape(len(vectors), -1)
    parts = [flat[k : k + len(ids)] @ near[:, :, k].T for k in range(5)]
    return np.sum(parts, axis=0) + model["near.bias"]
