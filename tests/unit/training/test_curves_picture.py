"""Curves of runs, drawn."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.helpers.written_runs import write_run
from zh_albert.errors import ConfigError, MissingExtraError
from zh_albert.training.curves import (
    last_means,
    read_run,
)
from zh_albert.training.curves_picture import draw_curves, write_picture


def test_the_picture_names_each_label_once_in_every_panel(tmp_path: Path) -> None:
    runs = [
        read_run(write_run(tmp_path / f"{label}-{seed}", accuracy=accuracy + seed / 50), label)
        for label, accuracy in (("random", 0.1), ("statistics", 0.4))
        for seed in range(2)
    ]
    for name in ("one.svg", "two.svg"):
        write_picture(draw_curves(runs), tmp_path / name)
    text = (tmp_path / "one.svg").read_text("utf-8")

    for said in ("training loss, nats", "held-out masked accuracy", "tokens read", "random 2"):
        assert said in text
    assert text.count(">statistics  ") == 2
    assert "statistics  41.0 %" in text
    assert last_means(runs)["statistics"] == {
        "runs": 2,
        "tokens": 20_000,
        "masked_accuracy": pytest.approx(0.41),
    }
    assert text == (tmp_path / "two.svg").read_text("utf-8")


def test_scores_in_percent_are_not_taken_for_fractions(tmp_path: Path) -> None:
    rows = [f'{{"update": {n}, "f1": {80 + n}.5, "accuracy": 0.{n}}}\n' for n in (1, 2)]
    (tmp_path / "curve.jsonl").write_text("".join(rows), "utf-8")
    write_picture(draw_curves([read_run(tmp_path, "reader")]), tmp_path / "curves.svg")
    text = (tmp_path / "curves.svg").read_text("utf-8")

    assert "reader  82.5<" in text
    assert "reader  20.0 %" in text


def test_a_png_can_be_written(tmp_path: Path) -> None:
    write_picture(draw_curves([read_run(write_run(tmp_path / "a"))]), tmp_path / "a.png")

    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_what_cannot_be_drawn_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = read_run(write_run(tmp_path / "job"))
    with pytest.raises(ConfigError, match="did you mean 'masked_accuracy'"):
        draw_curves([run], ["masked_acuracy"])
    with pytest.raises(ConfigError, match=r"at most 7 labels.*found 9"):
        draw_curves([read_run(tmp_path / "job", str(number)) for number in range(9)])
    with pytest.raises(ConfigError, match=r"\.svg or \.png"):
        write_picture(draw_curves([run]), tmp_path / "curves.pdf")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"zh-albert\[plots\]"):
        draw_curves([run])
