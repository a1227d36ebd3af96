"""What the predictors take as texts, and what they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zh_albert import load
from zh_albert.errors import CheckpointError, DataError
from zh_albert.inference.pools import as_list, pools
from zh_albert.tasks.ner.examples import as_spans

TEXTS = ["房间很干净", "李华去了[MASK][MASK]"]


@pytest.mark.parametrize("given", [TEXTS, tuple(TEXTS), np.array(TEXTS), iter(TEXTS)])
def test_whatever_has_an_order_is_taken(given: Any) -> None:
    assert as_list(given) == TEXTS


@pytest.mark.parametrize(
    "given", [None, 5, b"text", {"a": 1}, {"a", "b"}, np.array([["a"] * 3]), np.array("a")]
)
def test_anything_else_is_refused_at_once(given: Any) -> None:
    with pytest.raises(DataError, match="texts: expected a string or a list of them, found"):
        as_list(given)
    with pytest.raises(DataError, match="texts: expected a string or a list of them, found"):
        next(pools(given))


def test_a_string_is_one_text_also_in_a_stream() -> None:
    assert as_list("房间") == ["房间"]
    assert list(pools("房间")) == [["房间"]]


def test_an_array_of_two_columns_is_pairs() -> None:
    pairs = [("好", "很好"), ("坏", "好")]
    assert as_list(np.array(pairs)) == pairs
    assert list(pools(np.array(pairs))) == [pairs]
    with pytest.raises(DataError, match=r"texts\[0\]: expected a string, found tuple"):
        load("sentiment")(np.array(pairs))


@pytest.mark.parametrize("name", ["sentiment", "ner"])
def test_a_generator_is_answered_as_its_list_is(name: str) -> None:
    model = load(name)
    assert model(text for text in TEXTS) == model(TEXTS)
    assert len(model(TEXTS)) == 2


def test_a_model_may_be_a_path_and_nothing_else() -> None:
    assert load(Path("ner"))("李华") == load("ner")("李华")
    for wrong in (None, 3, b"ner"):
        with pytest.raises(CheckpointError, match="expected a model's name or folder, found"):
            load(wrong)  # type: ignore[call-overload]


def test_a_text_may_have_no_entities_in_two_ways() -> None:
    assert as_spans(None, "好", "here") == as_spans([], "好", "here") == ()
