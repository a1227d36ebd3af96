"""Scores of classes and of sets of them, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from zh_albert.tasks.classification.metrics import best_threshold, label_set_metrics


@st.composite
def label_sets(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Gold labels and probabilities of few values, so that ties are common."""
    shape = (draw(st.integers(1, 6)), draw(st.integers(1, 4)))
    size = shape[0] * shape[1]
    gold = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    scores = draw(st.lists(st.integers(0, 8), min_size=size, max_size=size))
    return np.array(gold).reshape(shape), (np.array(scores) / 8).reshape(shape)


@given(label_sets())
def test_f1_of_label_sets_is_that_of_scikit_learn(case: tuple[np.ndarray, np.ndarray]) -> None:
    gold, predicted = case[0], case[1] > 0.5
    found = label_set_metrics(gold, predicted)
    # Of a single label scikit-learn would count the texts without it, too.
    wide = [np.hstack([labels, np.zeros((len(labels), 1), bool)]) for labels in (gold, predicted)]
    assert found["micro_f1"] == pytest.approx(f1_score(*wide, average="micro", zero_division=0))
    of_each = f1_score(*wide, average=None, zero_division=0)[:-1]
    assert found["macro_f1"] == pytest.approx(of_each.mean())
    assert found["accuracy"] == (gold == predicted).all(-1).mean()


@given(label_sets())
def test_no_other_threshold_has_a_higher_micro_f1(case: tuple[np.ndarray, np.ndarray]) -> None:
    gold, probabilities = case

    def f1(threshold: float) -> float:
        given = probabilities >= threshold
        return float(2 * (given & gold).sum() / max(given.sum() + gold.sum(), 1))

    best = f1(best_threshold(gold, probabilities))
    assert best == pytest.approx(max(f1(value) for value in np.unique(probabilities)))
