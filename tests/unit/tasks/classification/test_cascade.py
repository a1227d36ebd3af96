"""A small classifier, and a large one where the small one is unsure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zh_albert import load
from zh_albert.errors import ConfigError, DataError
from zh_albert.tasks.classification.cascade import Cascade
from zh_albert.tasks.classification.predictor import Classification, Classifier


class Fixed(Classifier):
    """Answers what it is told, and keeps what it was asked."""

    def __init__(self, answers: Mapping[str, tuple[str, float]], labels: Any = ("a", "b")) -> None:
        self._answers, self.asked = answers, list[str]()
        self.labels, self.pairs = list(labels), False

    def __call__(self, contents: Any) -> Any:
        self.asked += contents
        return [Classification(*self._answers[text], {}) for text in contents]


def test_the_large_one_answers_what_the_small_one_is_unsure_of() -> None:
    small = Fixed({"1": ("a", 0.95), "2": ("a", 0.6), "3": ("b", 0.9)})
    large = Fixed({"2": ("b", 0.55)})
    cascade = Cascade(small, large, threshold=0.9)

    assert cascade.passed_on == 0
    assert [answer.label for answer in cascade(["1", "2", "3"])] == ["a", "b", "b"]
    assert large.asked == ["2"]
    assert cascade.passed_on == pytest.approx(1 / 3)
    cascade.threshold = 0
    assert [answer.label for answer in cascade("2")] == ["a"]
    assert large.asked == ["2"]


ROWS = st.lists(
    st.tuples(st.sampled_from([0.5, 0.6, 0.7, 0.8, 0.9, 1.0]), st.booleans(), st.booleans()),
    min_size=1,
    max_size=30,
)


@given(ROWS, st.sampled_from([0.0, 0.05, 0.2, 1.0]))
def test_it_asks_the_large_one_least_often_within_the_loss(
    rows: list[tuple[float, bool, bool]], loss: float
) -> None:
    texts = [str(number) for number in range(len(rows))]
    answers = [
        {text: ("ba"[row[side]], row[0]) for text, row in zip(texts, rows, strict=True)}
        for side in (1, 2)
    ]
    models = [Fixed(one) for one in answers]
    gold = ["a"] * len(texts)

    def asked_and_right(threshold: float) -> tuple[int, int]:
        cascade = Cascade(Fixed(answers[0]), Fixed(answers[1]), threshold=threshold)
        right = sum(answer.label == "a" for answer in cascade(texts))
        return round(cascade.passed_on * len(texts)), right

    found = Cascade.fit(*models, texts, gold, loss=loss)
    asked, right = asked_and_right(found.threshold)
    least = sum(row[2] for row in rows) - loss * len(rows)
    tried = [asked_and_right(t) for t in (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, math.inf)]
    holding = [count for count, good in tried if good >= least]
    assert right >= least
    assert asked == min(holding)


def test_the_bundled_ones_make_a_cascade() -> None:
    small, large = load("sentiment-nano"), load("sentiment")
    cascade = Cascade(small, large, threshold=0.9)
    texts = ["房间很干净，服务也好", "太差了，再也不来", "还行吧，但是有点吵"]
    both = zip(small(texts), large(texts), strict=True)

    assert cascade(texts) == [one if one.score >= 0.9 else other for one, other in both]


def test_what_does_not_fit_is_refused() -> None:
    one: Any = Fixed({})
    with pytest.raises(ConfigError, match=r"large: expected a classifier, .* found 'news'"):
        Cascade(one, "news")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"same classes .* found a, b and a, c"):
        Cascade(one, Fixed({}, "ac"))
    with pytest.raises(ConfigError, match=r"threshold: .* from 0 to 1, found 90"):
        Cascade(one, one, threshold=90)
    for loss in (-0.1, float("nan")):
        with pytest.raises(ConfigError, match=r"loss: expected a number from 0 to 1, found"):
            Cascade.fit(one, one, ["1"], ["a"], loss=loss)
    with pytest.raises(DataError, match=r"found 0 texts and 1 labels"):
        Cascade.fit(one, one, [], ["a"])
    with pytest.raises(DataError, match=r"labels\[1\]: classes \['好'\] .* the model knows a, b"):
        Cascade.fit(one, one, ["1", "2"], ["a", "好"])
    with pytest.raises(DataError, match=r"labels\[1\]: expected a string, found NoneType"):
        Cascade.fit(one, one, ["1", "2", "3"], ["a", None, 3])  # type: ignore[list-item]
    of_pairs = Fixed({})
    of_pairs.pairs = True
    with pytest.raises(ConfigError, match=r"read the same, found a, b and a, b of pairs"):
        Cascade(one, of_pairs)
    assert one.asked == []
    assert Cascade(one, one, threshold=np.float32(0.5)).threshold == 0.5  # type: ignore[arg-type]
