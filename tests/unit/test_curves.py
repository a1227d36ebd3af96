"""The training curves without a browser: what is read, what is drawn, what is said instead."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.curves import CurvePoint, curves_panel, read_curve
from apps.line_figure import ticks
from apps.texts.languages import CHINESE
from tests.micro import CURVE
from tests.panel_reader import HOSTILE, OURS, Reader
from zh_albert.errors import DataError

TAGS = OURS | {"svg", "line", "text", "polygon", "polyline", "circle", "title"}
TAGS |= {"details", "summary", "table", "thead", "tbody", "tr", "th", "td"}


def encoder(folder: Path, **metadata: object) -> Any:
    return SimpleNamespace(
        folder=folder, metadata=metadata, tokenizer=SimpleNamespace(vocab_size=8960)
    )


def write(folder: Path, *rows: object) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (folder / "curve.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def row(update: int, **changes: object) -> dict[str, object]:
    scores = {"masked_loss": 4.0, "masked_accuracy": 0.3, "order_accuracy": 0.7}
    return {"update": update, "tokens": 2048 * update, **scores, "seconds": 3.1, **changes}


def test_points_come_in_the_order_of_training_and_no_file_means_none(tmp_path: Path) -> None:
    assert read_curve(tmp_path) == []
    write(tmp_path, row(200), row(100))
    assert [point.tokens for point in read_curve(tmp_path)] == [204_800, 409_600]


@pytest.mark.parametrize(
    "bad",
    [
        "{oops",
        "[1]",
        {"update": 1},
        row(1, masked_loss=None),
        row(1, tokens="3"),
        '{"update": NaN}',
    ],
)
def test_a_damaged_line_is_named_and_told_in_one_line(tmp_path: Path, bad: object) -> None:
    write(tmp_path, row(1), bad)
    with pytest.raises(DataError, match=r"curve\.jsonl, line 2: "):
        read_curve(tmp_path)
    panel = curves_panel(CHINESE, encoder(tmp_path))
    assert "训练记录读不出来" in panel
    assert "line 2" in panel
    assert "<svg" not in panel


def test_without_an_encoder_or_a_record_the_panel_says_so(tmp_path: Path) -> None:
    assert "还没有随附的预训练编码器" in curves_panel(CHINESE, None)
    assert "这个编码器没有训练记录" in curves_panel(CHINESE, encoder(tmp_path))


def test_three_figures_the_last_values_and_a_table(tmp_path: Path) -> None:
    (tmp_path / "curve.jsonl").write_text(CURVE, encoding="utf-8")
    panel = curves_panel(CHINESE, encoder(tmp_path, trained_on="维基百科"))

    assert panel.count("<svg") == 3
    assert panel.count("<polyline") == 3
    for shown in ("123 万", "600", "30.0%", "65.0%", "训练语料：维基百科", "8,960 行", "403 个字"):
        assert shown in panel
    assert panel.count("<tr>") == 1 + 6
    assert panel.count('class="za-chance"') == 1


share = st.floats(0, 1)
curve_points = st.builds(
    CurvePoint, st.integers(0, 10**6), st.integers(0, 10**10), st.floats(0, 30), share, share
)


@given(points=st.lists(curve_points, min_size=1, max_size=60))
def test_everything_is_drawn_inside_the_figure(
    tmp_path_factory: pytest.TempPathFactory, points: list[CurvePoint]
) -> None:
    folder = write(tmp_path_factory.mktemp("curve"), *(point._asdict() for point in points))
    panel = curves_panel(CHINESE, encoder(folder, trained_on=HOSTILE))

    for line in re.findall(r'<polyline class="za-line" points="(.*?)"', panel):
        places = [tuple(map(float, pair.split(","))) for pair in line.split()]
        assert len(places) == len(points)
        assert all(46 <= x <= 344 and 14 <= y <= 180 for x, y in places)
        assert [x for x, _ in places] == sorted(x for x, _ in places)
    assert panel.count("<circle") <= 3 * 40
    read = Reader(panel)
    assert set(read.tags) <= TAGS
    assert not set(panel) & set("${}@`\0")


@given(low=st.floats(-100, 100), width=st.floats(1e-3, 1e9), most=st.integers(2, 8))
def test_ticks_are_round_few_and_inside(low: float, width: float, most: int) -> None:
    found = ticks(low, low + width, most)

    assert len(found) <= most
    assert all(low - 1e-6 * width <= tick <= low + width * (1 + 1e-6) for tick in found)
    if most >= 4:
        assert len(found) >= 2
