"""What a corpus says about neighbouring tokens, counted in one pass over the token stream."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


@dataclass(frozen=True)
class NeighbourCounts:
    """Counts over a corpus.

    Attributes:
        unigrams: Occurrences of each token. Shape: (vocab,).
        pairs: For each offset 1, 2, …: how often token ``b`` stands that many places behind
            token ``a``. Shape of each: (vocab, vocab), rows ``a``.
    """

    unigrams: NDArray[np.float64]
    pairs: dict[int, sparse.csr_matrix]

    def at(self, offset: int) -> sparse.csr_matrix:
        """Return counts of (token, its neighbour at ``offset``); negative offsets look back."""
        return self.pairs[offset] if offset > 0 else self.pairs[-offset].T.tocsr()


def count_cooccurrences(
    documents: Iterable[NDArray[np.uint16]], vocab_size: int, *, max_offset: int = 3
) -> NeighbourCounts:
    """Count neighbours within documents.

    One dense table of ``vocab_size`` squared counters lives at a time (300 MB at 8,960 tokens).

    Args:
        documents: Token ids of each document, without special tokens.
        vocab_size: Ids are below this.
        max_offset: The farthest neighbour counted.
    """
    gap = np.full(max_offset, vocab_size, dtype=np.int64)  # keeps documents apart
    stream = np.concatenate([np.concatenate([ids.astype(np.int64), gap]) for ids in documents])
    width = vocab_size + 1
    unigrams = np.bincount(stream, minlength=width)[:vocab_size].astype(np.float64)
    pairs = {}
    for offset in range(1, max_offset + 1):
        table = np.zeros(width * width, dtype=np.int32)
        for start in range(0, len(stream) - offset, 4_000_000):
            first = stream[start : min(start + 4_000_000, len(stream) - offset)]
            second = stream[start + offset : start + offset + len(first)]
            codes, counts = np.unique(first * width + second, return_counts=True)
            table[codes] += counts.astype(np.int32)
        square = table.reshape(width, width)[:vocab_size, :vocab_size]
        pairs[offset] = sparse.csr_matrix(square, dtype=np.float64)
    return NeighbourCounts(unigrams, pairs)


def pointwise_information(
    counts: NeighbourCounts, offset: int, *, positive: bool
) -> sparse.csr_matrix:
    """Return the pointwise mutual information of tokens and their neighbours at ``offset``.

    In nats, where the pair was seen; 0 elsewhere. ``positive`` drops negative values.
    """
    pairs = counts.at(offset).tocoo()
    share = counts.unigrams / counts.unigrams.sum()
    expected = share[pairs.row] * share[pairs.col] * pairs.data.sum()
    # Half a count less: a pair seen once says little, and would say most otherwise.
    values = np.log(np.maximum(pairs.data - 0.5, 1e-9) / np.maximum(expected, 1e-12))
    if positive:
        values = np.maximum(values, 0.0)
    result = sparse.csr_matrix((values, (pairs.row, pairs.col)), shape=pairs.shape)
    result.eliminate_zeros()
    return result
