"""Co-occurrence statistics of neighbouring tokens, counted in one pass over a corpus."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_FARTHEST = 3  # offset of a neighbour that is counted


@dataclass(frozen=True)
class CooccurrenceCounts:
    """Token and co-occurrence counts of a corpus.

    Attributes:
        unigrams: Occurrences of each token. Shape: (vocab,).
        pairs: For each offset 1, 2, 3: number of times that token ``b`` stands that many places
            after token ``a``. Shape of each: (vocab, vocab), rows ``a``.
    """

    unigrams: NDArray[np.float64]
    pairs: dict[int, sparse.csr_matrix]

    def at(self, offset: int) -> sparse.csr_matrix:
        """Return counts of (token, neighbour at ``offset``); negative offsets look back."""
        return self.pairs[offset] if offset > 0 else self.pairs[-offset].T.tocsr()


def count_cooccurrences(
    documents: Iterable[NDArray[np.uint16]], vocab_size: int
) -> CooccurrenceCounts:
    """Count tokens and their neighbours within documents, up to the third.

    One dense table of ``vocab_size`` squared counters is in memory at a time (300 MB at 8,960
    tokens).

    Args:
        documents: Token ids of each document, without special tokens.
        vocab_size: Upper limit of the ids.
    """
    gap = np.full(_FARTHEST, vocab_size, dtype=np.int64)  # separates documents
    stream = np.concatenate([np.concatenate([ids.astype(np.int64), gap]) for ids in documents])
    width = vocab_size + 1
    unigrams = np.bincount(stream, minlength=width)[:vocab_size].astype(np.float64)
    pairs = {}
    for offset in range(1, _FARTHEST + 1):
        table = np.zeros(width * width, dtype=np.int32)
        for start in range(0, len(stream) - offset, 4_000_000):
            first = stream[start : min(start + 4_000_000, len(stream) - offset)]
            second = stream[start + offset : start + offset + len(first)]
            codes, counts = np.unique(first * width + second, return_counts=True)
            table[codes] += counts.astype(np.int32)
        square = table.reshape(width, width)[:vocab_size, :vocab_size]
        pairs[offset] = sparse.csr_matrix(square, dtype=np.float64)
    return CooccurrenceCounts(unigrams, pairs)


def pointwise_mutual_information(
    counts: CooccurrenceCounts, offset: int, *, positive: bool
) -> sparse.csr_matrix:
    """Return the pointwise mutual information (PMI) of tokens and their neighbours at ``offset``.

    In nats for pairs that occurred; 0 elsewhere. ``positive`` clips negative values to 0.
    """
    pairs = counts.at(offset).tocoo()
    share = counts.unigrams / counts.unigrams.sum()
    expected = share[pairs.row] * share[pairs.col] * pairs.data.sum()
    # Discounted by half a count: a pair seen once would otherwise have the highest values.
    values = np.log(np.maximum(pairs.data - 0.5, 1e-9) / np.maximum(expected, 1e-12))
    if positive:
        values = np.maximum(values, 0.0)
    result = sparse.csr_matrix((values, (pairs.row, pairs.col)), shape=pairs.shape)
    result.eliminate_zeros()
    return result
