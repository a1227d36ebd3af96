"""Metrics of spans, from counts over all texts; the entropy of tags."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable


def entropy(tags: Iterable[int]) -> float:
    """Return the entropy of tags, in nats: the loss of always predicting their frequencies."""
    counts = Counter(tags)
    shares = [count / counts.total() for count in counts.values()]
    return -sum(share * math.log(share) for share in shares)


def span_scores(hits: int, gold: int, predicted: int) -> dict[str, float]:
    """Return ``precision``, ``recall`` and ``f1``, fractions in [0, 1].

    A fraction without a denominator is 0.

    Args:
        hits: Predicted spans that are right.
        gold: Right spans.
        predicted: Predicted spans.

    >>> span_scores(hits=1, gold=2, predicted=1)["recall"]
    0.5
    """
    return {
        "precision": hits / predicted if predicted else 0.0,
        "recall": hits / gold if gold else 0.0,
        "f1": 2 * hits / (gold + predicted) if gold + predicted else 0.0,
    }
