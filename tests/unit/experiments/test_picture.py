"""Comparisons, drawn."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest
from matplotlib.text import Text

from tests.helpers.toy_runs import ToyRuns, toy_arms, toy_comparison
from zh_albert.errors import ConfigError, MissingExtraError
from zh_albert.experiments.arms import Arm
from zh_albert.experiments.picture import draw_comparison
from zh_albert.training.curves_picture import write_picture


def test_the_picture_names_every_arm_and_what_it_shows(tmp_path: Path) -> None:
    comparison = toy_comparison(tmp_path / "out")
    for name in ("one.svg", "two.svg", "one.png"):
        figure = draw_comparison(comparison, x="bytes", x_title="bytes of weights")
        write_picture(figure, tmp_path / name)
    text = (tmp_path / "one.svg").read_text("utf-8")

    said = ["base", "int8", "large", "bytes of weights", "score", "Pareto front", "over 4 seeds"]
    assert [words for words in said if words not in text] == []
    assert "see the table" not in text
    assert text == (tmp_path / "two.svg").read_text("utf-8")
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
@pytest.mark.parametrize("number_of_arms", [3, 30])
def test_labels_of_close_points_do_not_overlap(number_of_arms: int, tmp_path: Path) -> None:
    arms = [
        Arm(name=f"an arm {number}", settings={"score": 0.5 - number / 1000, "bytes": 900 + number})
        for number in range(number_of_arms)
    ]
    arms.append(Arm(name="far away", settings={"score": 0.9, "bytes": 90_000}))
    figure = draw_comparison(toy_comparison(tmp_path, arms=arms), x="bytes")
    figure.draw_without_rendering()
    (axes,) = figure.axes
    boxes = [Text.get_window_extent(label) for label in axes.texts]  # without the leader line

    names = [label.get_text() for label in axes.texts]
    assert names[:2] == ["an arm 0", "far away"]  # on the front
    all_named = set(names) == {arm.name for arm in arms}
    assert all_named == (number_of_arms == 3)
    (note,) = (text.get_text() for text in figure.texts)
    assert note.endswith("see the table.") != all_named
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_dominated_arms_are_hollow(tmp_path: Path) -> None:
    arms = [*toy_arms(), Arm(name="worse", settings={"score": 0.4, "bytes": 2000})]
    figure = draw_comparison(toy_comparison(tmp_path, arms=arms), x="bytes")
    marks = [line for line in figure.axes[0].lines if line.get_marker() == "o"]

    assert [mark.get_markerfacecolor() == "white" for mark in marks] == [False, False, False, True]


def test_an_arm_without_runs_is_left_out(tmp_path: Path) -> None:
    figure = draw_comparison(toy_comparison(tmp_path, ToyRuns(failing=[0.5])), x="bytes")
    assert [label.get_text() for label in figure.axes[0].texts] == ["base", "large"]


def test_what_cannot_be_drawn_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    comparison = toy_comparison(tmp_path)
    with pytest.raises(ConfigError, match="'byte'; did you mean 'bytes'"):
        draw_comparison(comparison, x="byte")
    free = [Arm(name="free", settings={"score": 0.5, "bytes": 0})]
    with pytest.raises(ConfigError, match="free: expected bytes above 0"):
        draw_comparison(toy_comparison(tmp_path, arms=free), x="bytes")
    with pytest.raises(ConfigError, match="all runs failed"):
        draw_comparison(
            toy_comparison(tmp_path / "none", ToyRuns(failing=[0.6, 0.5, 0.7])), x="score"
        )
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"zh-albert\[plots\]"):
        draw_comparison(comparison, x="bytes")
