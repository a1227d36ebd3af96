"""What the predictors take as texts, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zh_albert import load
from zh_albert.errors import DataError
from zh_albert.tasks.chunks import as_list, chunks

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
        next(chunks(given, 100))


def test_a_string_is_one_text_also_in_a_stream() -> None:
    assert as_list("房间") == ["房间"]
    assert list(chunks("房间", 100)) == [["房间"]]


def test_texts_before_a_stream_failed_are_a_chunk() -> None:
    def failing() -> Any:
        yield from ("一", "二", "三")
        raise ConnectionError

    found = chunks(failing(), 2)
    assert [next(found), next(found)] == [["一", "二"], ["三"]]
    with pytest.raises(ConnectionError):
        next(found)


def test_an_array_of_two_columns_is_pairs() -> None:
    pairs = [("好", "很好"), ("坏", "好")]
    assert as_list(np.array(pairs)) == pairs
    assert list(chunks(np.array(pairs), 100)) == [pairs]
    with pytest.raises(DataError, match=r"texts\[0\]: expected a string, found tuple"):
        load("sentiment")(np.array(pairs))
