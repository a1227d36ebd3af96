"""A second opinion beside the network: TF-IDF over token n-grams and a linear SVM.

What a bag of n-grams sees at once (names, set phrases) a small encoder has to learn; what the
encoder understands no bag can see. Their answers added up are better than either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.svm import LinearSVC

from zh_albert.tasks.windows import EncodedText

ORDERS = 3  # single tokens, pairs and triples
_SEEN_IN = 2  # texts at least; rarer n-grams are left out
_MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, of many bits
_C = 0.2  # the SVM's; n-grams are many and single ones weak


@dataclass(frozen=True)
class NgramVoter:
    """Scores of classes from the n-grams of a text.

    Attributes:
        names: The n-grams known, as sorted 64-bit hashes. Shape: (n-grams,).
        rarity: Weight of each, its inverse document frequency. Shape: (n-grams,).
        weights: Of each for each class. Shape: (n-grams, classes).
        offsets: Added to the scores. Shape: (classes,).
    """

    names: NDArray[np.uint64]
    rarity: NDArray[np.float32]
    weights: NDArray[np.float32]
    offsets: NDArray[np.float32]

    @classmethod
    def fit(
        cls,
        texts: Sequence[EncodedText],
        classes: NDArray[np.int64],
        weights: NDArray[np.float32],
    ) -> NgramVoter:
        """Learn from labelled texts.

        Args:
            texts: To learn from.
            classes: The number of each text's class, from 0; every class occurs. Shape: (texts,).
            weights: How much each text counts. Shape: (texts,).
        """
        found = [np.unique(hashed_ngrams(tokens_of(text))) for text in texts]
        names, seen = np.unique(np.concatenate(found), return_counts=True)
        names, seen = names[seen >= _SEEN_IN], seen[seen >= _SEEN_IN]
        rarity = (np.log((1 + len(texts)) / (1 + seen)) + 1).astype(np.float32)
        svm = LinearSVC(C=_C, random_state=0)
        svm.fit(weighted_ngrams(texts, names, rarity), classes, sample_weight=weights)
        learned, offsets = svm.coef_.T, svm.intercept_
        if learned.shape[1] == 1:  # one margin tells two classes apart
            learned, offsets = (
                np.hstack([-learned, learned]) / 2,
                np.hstack([-offsets, offsets]) / 2,
            )
        return cls(names, rarity, learned.astype(np.float32), offsets.astype(np.float32))

    def scores(self, texts: Sequence[EncodedText]) -> NDArray[np.float32]:
        """Return margins. Shape: (texts, classes)."""
        found = weighted_ngrams(texts, self.names, self.rarity) @ self.weights + self.offsets
        return np.asarray(found, np.float32)


def weighted_ngrams(
    texts: Sequence[EncodedText], names: NDArray[np.uint64], rarity: NDArray[np.float32]
) -> csr_matrix:
    """Return TF-IDF rows of length 1: 1 + log of the count, times the rarity."""
    columns, counts = [], []
    for text in texts:
        hashes, count = np.unique(hashed_ngrams(tokens_of(text)), return_counts=True)
        places = np.searchsorted(names, hashes)
        known = names[np.minimum(places, len(names) - 1)] == hashes
        columns.append(places[known])
        counts.append(count[known])
    ends = np.cumsum([0, *map(len, columns)])
    column = np.concatenate(columns)
    values = (1 + np.log(np.concatenate(counts))) * rarity[column]
    rows = np.repeat(np.arange(len(texts)), np.diff(ends))
    lengths = np.sqrt(np.bincount(rows, weights=values**2, minlength=len(texts)))
    values /= lengths[rows]
    return csr_matrix((values.astype(np.float32), column, ends), shape=(len(texts), len(names)))


def hashed_ngrams(ids: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a hash of each n-gram of a text, shorter ones first. Shape: (n-grams,)."""
    found = [np.zeros(0, np.uint64)]
    mixed = np.zeros(len(ids), np.uint64)
    for order in range(min(ORDERS, len(ids))):
        mixed = (mixed[: len(ids) - order] + ids[order:] + np.uint64(1)) * _MIX
        mixed ^= mixed >> np.uint64(29)
        found.append(mixed)
    return np.concatenate(found)


def tokens_of(text: EncodedText) -> NDArray[np.uint64]:
    """Return a text's own tokens, each once, from its windows."""
    ids: list[int] = []
    for window, part in zip(text.windows, text.parts, strict=True):
        ids += window.token_ids[1 + len(ids) - part.start : 1 + len(part)]
    return np.array(ids, np.uint64)
