"""Cells that a spreadsheet would run: harmless when downloaded, the same when read again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zh_albert.tables.cells import harmless, restored

FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://x")', "-", "='"]


@pytest.mark.parametrize("cell", FORMULAS)
def test_a_formula_becomes_a_text(cell: str) -> None:
    assert harmless(cell) == f"'{cell}"
    assert restored(harmless(cell)) == cell


@pytest.mark.parametrize("cell", ["", "好", "1", "-0.5", "+3", "-1e-05", "'好'", "a=b", "'-1"])
def test_other_cells_stay_as_they_are(cell: str) -> None:
    assert harmless(cell) == cell
    assert restored(cell) == cell


@given(st.text(st.sampled_from("'=+-@\t\r1.e好"), max_size=5))
def test_every_cell_is_read_back(cell: str) -> None:
    assert restored(harmless(cell)) == cell
    assert harmless(restored(cell)) in (cell, harmless(cell))
