"""Lines over an encoder's layers."""

from __future__ import annotations

import re

import pytest

from apps.tabs.inside.layer_figure import LayerLine, layer_figure


def test_a_line_has_a_point_for_each_layer_and_the_chosen_one_is_on_top() -> None:
    lines = [
        LayerLine("mine <b>", [4.0, 2.0], colour=0, is_chosen=True),
        LayerLine("其他", [1.0, 2.0, 3.0], colour=1, is_dashed=True),
    ]
    drawn = layer_figure("距离", "层", lines, [0, 0, 1])

    assert drawn.count("<circle") == 5
    assert drawn.index("za-dashed") < drawn.index("za-chosen")
    assert "mine &lt;b&gt; · 2: 2.00" in drawn
    (bands,) = re.findall(r'class="za-band" x="([\d.]+)"', drawn)
    assert float(bands) == 40
    heights = [
        float(y) for y in re.findall(r'za-chosen"><polyline points="[\d.]+,([\d.]+) ', drawn)
    ]
    assert heights[0] == pytest.approx(12 + 178 * (1 - 1 / 1.08), abs=0.1)
