"""Every row of the table of foreign checkpoints: our outputs are those of the formulas."""

from __future__ import annotations

from tests.interop.foreign_checkpoints import LAYOUTS, rows


def test_every_difference_is_smaller_than_a_hundred_thousandth() -> None:
    found = list(rows())

    assert {row.system for row in found} >= {*LAYOUTS, "UER-py, gelu"}
    assert {row.direction for row in found} == {"read", "written"}
    assert [row for row in found if not row.largest_difference < 1e-5] == []
