"""Metrics of word segmentation: exact spans, counted over all texts."""

from __future__ import annotations

from collections.abc import Sequence

from zh_albert.tasks.segmentation.examples import WordSpan
from zh_albert.tasks.tagging.metrics import span_scores


def word_metrics(
    gold: Sequence[Sequence[WordSpan]], predicted: Sequence[Sequence[WordSpan]]
) -> dict[str, float]:
    """Return ``precision``, ``recall`` and ``f1`` of words, fractions in [0, 1].

    A word counts only if both of its borders are right. A fraction without a denominator is 0.
    """
    hits = sum(len(set(a) & set(b)) for a, b in zip(gold, predicted, strict=True))
    return span_scores(hits, sum(map(len, gold)), sum(map(len, predicted)))
