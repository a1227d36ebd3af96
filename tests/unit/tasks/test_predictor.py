"""What all predictors have in common."""

from __future__ import annotations

import pytest

from zh_albert import load

TEXTS = ["房间很干净", "李华去了[MASK][MASK]"]


@pytest.mark.parametrize("name", ["sentiment", "ner"])
def test_a_generator_is_answered_as_its_list_is(name: str) -> None:
    model = load(name)
    assert model(text for text in TEXTS) == model(TEXTS)
    assert len(model(TEXTS)) == 2
