"""Curves of runs: read, averaged."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.written_runs import write_run
from zh_albert.errors import DataError
from zh_albert.training.curves import (
    Quantity,
    common_unit,
    mean_curve,
    quantities,
    read_run,
    smoothed,
)

ACCURACY, LOSS = Quantity("held-out", "masked_accuracy"), Quantity("training", "loss")


def test_a_jobs_events_become_curves_over_tokens(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path / "job"))

    assert run.label == "job"
    assert common_unit([run]) == "tokens"
    np.testing.assert_allclose(run.curve(ACCURACY, "tokens"), [[10_000, 20_000], [0.1, 0.2]])
    assert run.curve(LOSS, "updates")[:, 0].tolist() == [1, 7.9]
    assert quantities([run]) == [LOSS, ACCURACY]  # the seconds it took are no score
    both = [Quantity("training", "masked_accuracy"), ACCURACY]
    assert quantities([run], ["masked_accuracy"]) == both


def test_where_one_run_told_no_tokens_all_are_drawn_over_updates(tmp_path: Path) -> None:
    new = read_run(write_run(tmp_path / "new"))
    path = write_run(tmp_path / "old") / "training" / "metrics.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for row in rows:
        row.pop("tokens", None)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    assert common_unit([new, read_run(tmp_path / "old")]) == "updates"


def test_the_curve_beside_a_model_is_read_too(tmp_path: Path) -> None:
    rows = [
        {"update": 5, "tokens": 50, "accuracy": 0.5},
        {"update": 9, "tokens": 90, "accuracy": 1},
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "curve.jsonl").write_text(text, "utf-8")

    run = read_run(tmp_path, "mine")

    assert run.curve(Quantity("held-out", "accuracy"), "tokens").tolist() == [[50, 90], [0.5, 1]]
    assert quantities([run]) == [Quantity("held-out", "accuracy")]


def test_a_last_line_that_is_being_written_is_left_out(tmp_path: Path) -> None:
    path = write_run(tmp_path / "job") / "training" / "metrics.jsonl"
    with path.open("a", encoding="utf-8") as file:
        file.write('{"event": "prog')

    assert read_run(tmp_path / "job").curve(LOSS, "updates").shape == (2, 20)


def test_a_loss_that_is_no_number_leaves_a_gap(tmp_path: Path) -> None:
    path = write_run(tmp_path / "job") / "training" / "metrics.jsonl"
    path.write_text(path.read_text("utf-8").replace('"loss": 7.9', '"loss": NaN'), "utf-8")

    assert read_run(tmp_path / "job").curve(LOSS, "updates")[0, 0] == 2


def test_smoothing_keeps_the_mean_and_the_range() -> None:
    x = np.arange(1_000.0)
    short = smoothed(np.stack([x, np.cos(x)]), stretches=10)

    assert short.shape == (2, 10)
    np.testing.assert_allclose(short.mean(1), [x.mean(), np.cos(x).mean()])


def test_the_mean_is_over_what_all_runs_have_read() -> None:
    one = np.array([[100.0, 200, 300], [1, 2, 3]])
    other = np.array([[110.0, 210, 290], [3, 4, 5]])

    mean = mean_curve([one, other])

    np.testing.assert_allclose(
        mean, [[110, 200, 290], [(1.1 + 3) / 2, (2 + 3.9) / 2, (2.9 + 5) / 2]]
    )


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"expected the folder of a training run.*no folder"):
        read_run(tmp_path / "none")
    with pytest.raises(DataError, match="neither"):
        read_run(tmp_path)
    path = write_run(tmp_path / "job") / "training" / "metrics.jsonl"
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:5]), "utf-8")
    with pytest.raises(DataError, match="no evaluation yet"):
        read_run(tmp_path / "job")
    path.write_text("".join([lines[0], "hello\n", *lines[1:]]), "utf-8")
    with pytest.raises(DataError, match="line 2: not JSON"):
        read_run(tmp_path / "job")
    path.write_text('{"text": "x"}\n', "utf-8")
    with pytest.raises(DataError, match="line 1: expected 'update'"):
        read_run(tmp_path / "job")
    for odd in ('"event": "progress"', '"f1": "high"', '"f1": {"x": 1}'):
        path.write_text(f'{{"update": 1, {odd}}}\n', "utf-8")
        with pytest.raises(DataError, match="line 1: no event of a training run"):
            read_run(tmp_path / "job")
