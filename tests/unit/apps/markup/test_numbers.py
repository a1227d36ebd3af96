"""Shares that the page shows sum to 100 %."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.markup.numbers import percentages


@pytest.mark.slow
@given(scores=st.lists(st.floats(0, 1), min_size=1, max_size=130).filter(lambda s: sum(s) > 0.01))
def test_percentages_sum_to_a_hundred_and_are_near(scores: list[float]) -> None:
    percents = percentages(scores)

    assert sum(round(10 * percent) for percent in percents) == 1000
    for score, percent in zip(scores, percents, strict=True):
        assert percent == pytest.approx(100 * score / sum(scores), abs=0.100001)
