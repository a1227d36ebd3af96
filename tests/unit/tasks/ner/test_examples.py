"""Entities in any form that callers give."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from zh_albert.errors import DataError
from zh_albert.tasks.ner.examples import EntitySpan, as_spans


def test_entities_are_taken_in_any_form() -> None:
    expected = (EntitySpan(0, 1, "PER"),)
    thing = SimpleNamespace(start=0, end=1, type="PER")
    for form in (("0", 1, "PER"), [0, 1, "PER"], {"start": 0, "end": 1, "type": "PER"}, thing):
        assert as_spans([form, (0, 1, "PER")], "他好", "here") == expected


@pytest.mark.parametrize(
    ("entity", "problem"),
    [
        ((0, 3, "PER"), "here: entity 0–3 lies outside the text of 2 characters"),
        ((1, 1, "PER"), "here: entity 1–1 lies outside"),
        ((-1, 1, "PER"), "here: entity -1–1 lies outside"),
        ((0, 1), r"here: expected an entity as \(start, end, type\)"),
        (7, "here: expected an entity"),
        ((0, 1, None), "here: expected a type that is a string .* found None"),
        ((0, 1, 3), "here: expected a type"),
        ({"start": 0, "end": 1, "type": ""}, "here: expected a type"),
        ((0, 1, "a\nb"), "here: expected a type"),
    ],
)
def test_entities_that_are_none_are_refused(entity: object, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        as_spans([entity], "他好", "here")


def test_a_text_may_have_no_entities_in_two_ways() -> None:
    assert as_spans(None, "好", "here") == as_spans([], "好", "here") == ()


def test_positions_may_be_numpys_but_are_whole_numbers() -> None:
    from zh_albert.tasks.reading.examples import as_spans as as_answers

    assert as_spans([(np.int64(0), np.int64(2), "人")], "李华去了", "here")
    assert as_answers([(np.int64(0), "李华")], "李华去了", "here")
    assert as_answers([{"start": np.int64(2), "text": "去"}], "李华去了", "here")
    assert as_answers(SimpleNamespace(start=np.int64(2), text="去"), "李华去了", "here")
    with pytest.raises(DataError, match=r"expected a text, \(start, text\) or an object"):
        as_answers(SimpleNamespace(text="去"), "李华去了", "here")  # it has no start
    for start, end in ((0.9, 2.9), (0, float("inf"))):
        with pytest.raises(DataError, match="expected an entity"):
            as_spans([(start, end, "人")], "李华去了", "here")
