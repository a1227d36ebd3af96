"""The record of an encoder's training."""

from __future__ import annotations

from pathlib import Path

import pytest

from apps.tabs.training_curves.curve import read_curve
from tests.helpers.curves import curve_row, write_curve
from zh_albert.errors import DataError


def test_points_come_in_the_order_of_training_and_no_file_means_none(tmp_path: Path) -> None:
    assert read_curve(tmp_path) == []
    write_curve(tmp_path, curve_row(200), curve_row(100))
    assert [point.tokens for point in read_curve(tmp_path)] == [204_800, 409_600]


@pytest.mark.parametrize(
    "bad",
    [
        "{oops",
        "[1]",
        {"update": 1},
        curve_row(1, masked_loss=None),
        curve_row(1, tokens="3"),
        '{"update": NaN}',
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, bad: object) -> None:
    write_curve(tmp_path, curve_row(1), bad)
    with pytest.raises(DataError, match=r"curve\.jsonl, line 2: "):
        read_curve(tmp_path)
