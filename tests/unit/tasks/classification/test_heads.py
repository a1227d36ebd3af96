"""What logits mean: chances, values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from zh_albert.errors import DataError
from zh_albert.tasks.classification.examples import read_text_examples
from zh_albert.tasks.classification.head_selection import head_for, head_from
from zh_albert.tasks.classification.heads import LabelHead, OneClass, Value, value_of


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


def test_files_without_neutral_texts_are_scored_among_the_other_classes() -> None:
    head = OneClass(["negative", "neutral", "positive"])
    scores = np.array(
        [[0.2, 0.5, 0.3], [0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.1, 0.2, 0.7]], np.float32
    )
    found = head.metrics(["positive", "negative", "positive", "positive"], scores)
    assert found["accuracy"] == 0.75
    assert found["answered_neutral"] == 0.5
    assert found["macro_f1"] == pytest.approx((0.8 + 2 / 3) / 2)

    with_neutral = head.metrics(["neutral", "negative", "neutral", "positive"], scores)
    assert with_neutral == {"accuracy": 1.0, "macro_f1": 1.0}
    assert "answered_neutral" not in OneClass(["a", "b"]).metrics(["a"], scores[:1, :2])


def test_numbers_of_a_table_are_values_where_values_are_meant() -> None:
    assert isinstance(head_for(["3.5", "-1"], "regression"), Value)
    assert [value_of(label) for label in ("3.5", "-1", 2)] == [3.5, -1, 2]
    for wrong in ("nan", "1e999", "1_000", float("nan")):
        with pytest.raises(DataError, match=f"expected numbers, found {wrong!r}"):
            value_of(wrong)


def test_small_values_are_read_as_pandas_writes_them(tmp_path: Path) -> None:
    values, file = [0.5, 1e-05, 1.0], tmp_path / "values.csv"
    pd.DataFrame({"text": ["好", "坏", "中"], "label": values}).to_csv(file, index=False)
    labels = [example.label for example in read_text_examples(file)]
    assert labels[1] == "1e-05"
    head_for(labels, "regression")
    assert [value_of(label) for label in labels] == values
