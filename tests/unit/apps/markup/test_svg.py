"""The scales of figures."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from apps.markup.svg import ticks


@given(low=st.floats(-100, 100), width=st.floats(1e-3, 1e9), most=st.integers(2, 8))
def test_ticks_are_round_few_and_inside(low: float, width: float, most: int) -> None:
    found = ticks(low, low + width, most)

    assert len(found) <= most
    assert all(low - 1e-6 * width <= tick <= low + width * (1 + 1e-6) for tick in found)
    if most >= 4:
        assert len(found) >= 2
