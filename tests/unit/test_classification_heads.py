"""What labels become and what is made of logits: classes, several at once, values."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau
from sklearn.metrics import f1_score

from zh_albert.errors import DataError
from zh_albert.tasks.classification.head_selection import head_for, head_from
from zh_albert.tasks.classification.heads import LabelHead, LabelSet, OneClass, Value
from zh_albert.tasks.classification.metrics import best_threshold, label_set_metrics
from zh_albert.tasks.correlations import correlations


def trained_constant(head: LabelHead, targets: torch.Tensor, weights: torch.Tensor) -> float:
    """Minimise the mean loss over logits that are the same for every text."""
    logits = torch.zeros(1, len(head.labels), requires_grad=True)
    optimizer = torch.optim.LBFGS([logits], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        losses = head.losses(logits.expand(len(targets), -1), targets)
        mean = (losses * weights).sum() / weights.sum()
        mean.backward()  # type: ignore[no-untyped-call]
        return mean

    optimizer.step(loss)
    return loss().item()


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "b", "b", "c", "b"],
        [("a", "b"), ("b",), (), ("a", "c"), ("b",)],
        [1.0, 2.5, 2.5, 4.0, 0.5],
    ],
)
def test_the_chance_loss_is_that_of_the_best_constant_answer(labels: list[object]) -> None:
    name = "regression" if isinstance(labels[0], float) else None
    head = head_for(labels, name)  # type: ignore[arg-type]
    targets, weights = head.targets(labels), torch.tensor([1.0, 2.0, 1.0, 0.5, 1.0])  # type: ignore[arg-type]
    expected = trained_constant(head, targets, weights)
    assert head.chance_loss(targets, weights) == pytest.approx(expected, abs=1e-4)


def test_values_come_back_in_the_units_of_the_labels() -> None:
    labels = [10.0, 20.0, 40.0]
    head = head_for(labels, "regression")
    restored = head.scores(head.targets(labels)[:, None])
    np.testing.assert_allclose(restored[:, 0], labels, rtol=1e-6)
    opened = head_from({"head": head.name, "labels": head.labels, **head.settings()})
    assert opened == head


def test_a_number_is_a_class_or_a_value_but_never_by_guess() -> None:
    with pytest.raises(DataError, match=r"the first is 3.*model.head=regression.*head=classes"):
        head_for([3, 4], None)
    assert head_for([3, 4, 3], "classes").labels == ["3", "4"]
    assert isinstance(head_for([3, 4, 3], "regression"), Value)


def test_strings_and_lists_choose_their_head() -> None:
    assert isinstance(head_for(["a", "b"], None), OneClass)
    assert isinstance(head_for([("a",), ()], None), LabelSet)
    assert head_for(["a", "b"], "multi_label").labels == ["a", "b"]


@pytest.mark.parametrize(
    ("labels", "name", "problem"),
    [
        (["a", 3], None, "of one kind, found number and string"),
        ([("a",), ("b",)], "classes", "expected one class each, found the list"),
        (["a", "b"], "regression", "expected numbers, found 'a'; names want a model of cl"),
        ([1, 2], "multi_label", "expected lists of classes, found the number 1"),
        ([2, 2.0], "regression", "at least two different labels, found one value"),
        ([(), ()], None, "found only empty lists"),
        (["a", "a"], None, "found one class: 'a'"),
    ],
)
def test_labels_that_do_not_fit_are_refused(labels: list[object], name: str, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        head_for(labels, name)  # type: ignore[arg-type]


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


def test_values_far_from_zero_keep_their_differences() -> None:
    labels = [1_700_000_000.0, 1_700_000_010.0, 1_700_000_040.0]
    head = head_for(labels, "regression")
    targets = head.targets(labels)
    assert targets.dtype == torch.float32
    np.testing.assert_allclose(targets, [-0.98058, -0.39223, 1.37281], atol=1e-4)
    np.testing.assert_allclose(head.scores(targets[:, None])[:, 0], labels, rtol=0, atol=1e-4)


@given(label_sets())
def test_no_other_threshold_has_a_higher_micro_f1(case: tuple[np.ndarray, np.ndarray]) -> None:
    gold, probabilities = case

    def f1(threshold: float) -> float:
        given = probabilities >= threshold
        return float(2 * (given & gold).sum() / max(given.sum() + gold.sum(), 1))

    best = f1(best_threshold(gold, probabilities))
    assert best == pytest.approx(max(f1(value) for value in np.unique(probabilities)))


def test_correlations_are_those_of_their_definitions() -> None:
    gold, predicted = [1.0, 2, 3, 4, 5], [2.0, 1, 4, 3, 9]
    scores = correlations(gold, predicted)
    assert scores["pearson"] == pytest.approx(np.corrcoef(gold, predicted)[0, 1])
    assert scores["spearman"] == pytest.approx(1 - 6 * 4 / (5 * 24))  # 1 - 6 Σd² / (n³ - n)
    for order in itertools.permutations(gold):
        agrees = kendalltau(gold, order).statistic
        assert (correlations(gold, order)["spearman"] == 1) == (agrees == 1)
    assert correlations(gold, [3.0] * 5) == {"spearman": 0.0, "pearson": 0.0}
