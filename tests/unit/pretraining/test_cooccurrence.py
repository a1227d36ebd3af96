"""Neighbours counted, on a made-up language."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.successors import documents
from zh_albert.pretraining.cooccurrence import count_cooccurrences, pointwise_mutual_information

VOCAB = 45


def test_neighbours_are_counted_within_documents() -> None:
    counts = count_cooccurrences([np.array([5, 6, 5, 6], np.uint16), np.array([7], np.uint16)], 8)
    assert counts.unigrams.tolist() == [0, 0, 0, 0, 0, 2, 2, 1]
    first = counts.at(1).toarray()
    assert (first[5, 6], first[6, 5], first.sum()) == (2, 1, 3)  # not 6 → 7
    assert (counts.at(-1).toarray() == first.T).all()
    assert counts.at(2).toarray()[5, 5] == 1
    assert counts.at(3).toarray()[5, 6] == 1


def test_information_is_positive_for_what_stands_together() -> None:
    counts = count_cooccurrences(documents(50, 0), VOCAB)
    information = pointwise_mutual_information(counts, 1, positive=False).toarray()
    assert information[10, 11] == pytest.approx(np.log(0.8 * 40), abs=0.2)
    assert information[10, 30] == 0  # never seen
