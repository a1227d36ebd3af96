"""Word precision, recall and F1."""

from __future__ import annotations

import pytest

from zh_albert.tasks.segmentation.examples import WordSpan
from zh_albert.tasks.segmentation.metrics import word_metrics


def test_a_word_counts_only_with_both_borders() -> None:
    gold = [[WordSpan(0, 2), WordSpan(2, 3)], [WordSpan(0, 1)]]
    predicted = [[WordSpan(0, 1), WordSpan(1, 2), WordSpan(2, 3)], [WordSpan(0, 1)]]
    scores = word_metrics(gold, predicted)
    assert scores == pytest.approx({"precision": 2 / 4, "recall": 2 / 3, "f1": 4 / 7})


def test_nothing_found_scores_0() -> None:
    assert word_metrics([[WordSpan(0, 1)]], [[]]) == {"precision": 0.0, "recall": 0.0, "f1": 0.0}
