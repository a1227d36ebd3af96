"""Correlations, against their definitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from scipy.stats import kendalltau

from zh_albert.tasks.classification.head_selection import head_for
from zh_albert.tasks.correlations import correlations


def test_values_far_from_zero_keep_their_differences() -> None:
    labels = [1_700_000_000.0, 1_700_000_010.0, 1_700_000_040.0]
    head = head_for(labels, "regression")
    targets = head.targets(labels)
    assert targets.dtype == torch.float32
    np.testing.assert_allclose(targets, [-0.98058, -0.39223, 1.37281], atol=1e-4)
    np.testing.assert_allclose(head.scores(targets[:, None])[:, 0], labels, rtol=0, atol=1e-4)


def test_correlations_are_those_of_their_definitions() -> None:
    gold, predicted = [1.0, 2, 3, 4, 5], [2.0, 1, 4, 3, 9]
    scores = correlations(gold, predicted)
    assert scores["pearson"] == pytest.approx(np.corrcoef(gold, predicted)[0, 1])
    assert scores["spearman"] == pytest.approx(1 - 6 * 4 / (5 * 24))  # 1 - 6 Σd² / (n³ - n)
    for order in itertools.permutations(gold):
        agrees = kendalltau(gold, order).statistic
        assert (correlations(gold, order)["spearman"] == 1) == (agrees == 1)
    assert correlations(gold, [3.0] * 5) == {"spearman": 0.0, "pearson": 0.0}
