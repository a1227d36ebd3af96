"""The panel of training curves: what is drawn, and what is said instead."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.tabs.training_curves.curve import CurvePoint
from apps.tabs.training_curves.panels import curves_panel
from apps.tabs.training_curves.strings import CHINESE
from tests.helpers.curves import curve_row, write_curve
from tests.helpers.micro import CURVE
from tests.helpers.panel_reader import HOSTILE, OURS, check_is_only_text

TAGS = OURS | {"svg", "line", "text", "polygon", "polyline", "circle", "title"}


TAGS |= {"details", "summary", "table", "thead", "tbody", "tr", "th", "td"}


def encoder(folder: Path, **metadata: object) -> Any:
    return SimpleNamespace(
        folder=folder, metadata=metadata, tokenizer=SimpleNamespace(vocab_size=8960)
    )


def test_without_an_encoder_or_a_record_the_panel_says_so(tmp_path: Path) -> None:
    assert "还没有附带的预训练编码器" in curves_panel(CHINESE, None)
    assert "这个编码器没有训练记录" in curves_panel(CHINESE, encoder(tmp_path))


def test_a_damaged_record_is_told_in_one_line(tmp_path: Path) -> None:
    write_curve(tmp_path, curve_row(1), "{oops")
    panel = curves_panel(CHINESE, encoder(tmp_path))

    assert "训练记录读不出来" in panel
    assert "line 2" in panel
    assert "<svg" not in panel


def test_three_figures_the_last_values_and_a_table(tmp_path: Path) -> None:
    (tmp_path / "curve.jsonl").write_text(CURVE, encoding="utf-8")
    panel = curves_panel(CHINESE, encoder(tmp_path, trained_on="维基百科"))

    assert panel.count("<svg") == 3
    assert panel.count("<polyline") == 3
    for shown in (
        "123 万",
        "600",
        "30.0%",
        "65.0%",
        "训练语料：维基百科",
        "8,960 个词元",
        "403 个同样可能的候选",
    ):
        assert shown in panel
    assert panel.count("<tr>") == 1 + 6
    assert panel.count('class="za-chance"') == 1


share = st.floats(0, 1)


curve_points = st.builds(
    CurvePoint, st.integers(0, 10**6), st.integers(0, 10**10), st.floats(0, 30), share, share
)


@pytest.mark.slow
@given(points=st.lists(curve_points, min_size=1, max_size=60))
def test_everything_is_drawn_inside_the_figure(
    tmp_path_factory: pytest.TempPathFactory, points: list[CurvePoint]
) -> None:
    folder = write_curve(tmp_path_factory.mktemp("curve"), *(point._asdict() for point in points))
    panel = curves_panel(CHINESE, encoder(folder, trained_on=HOSTILE))

    for line in re.findall(r'<polyline class="za-line" points="(.*?)"', panel):
        places = [tuple(map(float, pair.split(","))) for pair in line.split()]
        assert len(places) == len(points)
        assert all(46 <= x <= 344 and 14 <= y <= 180 for x, y in places)
        assert [x for x, _ in places] == sorted(x for x, _ in places)
    assert panel.count("<circle") <= 3 * 40
    check_is_only_text(panel, TAGS)
