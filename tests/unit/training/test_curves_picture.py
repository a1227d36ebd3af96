"""Curves of runs, drawn."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from zh_albert.errors import ConfigError, MissingExtraError
from zh_albert.training.curves import (
    last_means,
    read_run,
)
from zh_albert.training.curves_picture import draw_curves, write_picture
from zh_albert.training.events import Evaluation, MetricsFile, Progress, Warned


def write_run(folder: Path, *, accuracy: float = 0.2, tokens: int = 1_000) -> Path:
    """Let the loop's own observer write a run of 20 updates, evaluated after every tenth."""
    listen = MetricsFile(folder / "training" / "metrics.jsonl", resumed_update=0)
    left: dict[str, Any] = {"learning_rate": 1e-3, "tokens_per_second": 5.0, "seconds": 1.0}
    for update in range(1, 21):
        read = tokens * update
        event = Progress(
            update=update,
            total=20,
            epoch=0,
            tokens=read,
            loss=8.0 - update / 10,
            measured={"masked_accuracy": accuracy / 2},
            seconds_left=0.0,
            **left,
        )
        listen(event)
        if update % 10 == 0:
            metrics = {"masked_accuracy": accuracy * update / 20, "seconds": 3.0}
            listen(Evaluation(update=update, total=20, tokens=read, metrics=metrics))
    listen(Warned(update=20, text="…"))
    return folder


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
