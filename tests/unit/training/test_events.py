"""Observers of a run: files, warnings."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from zh_albert.training.events import ChanceWatch, Evaluation, Event, MetricsFile, Progress, Warned


def test_a_warning_of_every_start_is_written_once(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    for update in (0, 5):
        file = MetricsFile(path, resumed_update=update)
        file(Warned(update=0, text="long windows"))
        file(Evaluation(update=update, total=9))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["event"] for row in rows] == ["warned", "evaluation", "evaluation"]


def test_the_metrics_file_of_a_resumed_run_reads_as_if_never_stopped(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    file = MetricsFile(path, resumed_update=0)
    for update in (1, 2, 3):
        file(Evaluation(update=update, total=9, metrics={"accuracy": update / 10}))
    with path.open("ab") as cut:
        cut.write('{"event": "注'.encode()[:-1])
    file = MetricsFile(path, resumed_update=2)
    file(Evaluation(update=3, total=9, metrics={"accuracy": 0.5}))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(row["update"], row["metrics"]["accuracy"]) for row in rows] == [
        (1, 0.1),
        (2, 0.2),
        (3, 0.5),
    ]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="stands for a full disk")
def test_a_full_disk_is_named_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    file = MetricsFile(path, resumed_update=0)
    path.unlink()
    path.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as told:
        file(Evaluation(update=1, total=9))
    assert told.value.filename == str(path)


def progress(update: int, loss: float) -> Progress:
    return Progress(
        update=update,
        total=100,
        epoch=0,
        tokens=2048 * update,
        loss=loss,
        learning_rate=1e-3,
        tokens_per_second=1.0,
        seconds=1.0,
        seconds_left=1.0,
    )


def test_staying_at_chance_is_said_once_with_advice() -> None:
    said: list[Event] = []
    watch = ChanceWatch(0.693, 1e-3, said.append)
    for update in range(1, 60):
        watch(progress(update, 0.694))
    assert len(said) == 1
    assert isinstance(said[0], Warned)
    assert "guessing gives 0.693" in said[0].text
    assert "peak_lr=3.3e-04" in said[0].text


@pytest.mark.parametrize(("of_task", "warned"), [(0.5, False), (0.694, True)])
def test_the_task_is_judged_by_its_own_loss(of_task: float, warned: bool) -> None:
    said: list[Event] = []
    watch = ChanceWatch(0.693, 1e-3, said.append)
    for update in range(1, 60):
        watch(replace(progress(update, 9.0), measured={"states": 8.5, "task_loss": of_task}))
    assert bool(said) == warned
    if said:
        assert isinstance(said[0], Warned)
        assert "the loss is 0.694" in said[0].text


def test_learning_is_not_warned_of() -> None:
    said: list[Event] = []
    watch = ChanceWatch(0.693, 1e-3, said.append)
    for update in range(1, 60):
        watch(progress(update, 0.7 - update / 100))
    assert not said


def test_tensorboard_gets_the_scalars(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    from zh_albert.training.events import TensorBoard

    board = TensorBoard(tmp_path)
    board(progress(1, 0.5))
    board(Evaluation(update=1, total=9, metrics={"accuracy": 0.25}))
    read = EventAccumulator(str(tmp_path))
    read.Reload()
    assert read.Scalars("train/loss")[0].value == 0.5
    assert read.Scalars("dev/accuracy")[0].value == 0.25


def test_a_number_that_json_has_not_is_null(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    file = MetricsFile(path, resumed_update=0)
    file(progress(1, math.nan))
    file(Evaluation(update=1, total=9, metrics={"spearman": math.nan, "loss": math.inf}))
    first, second = map(json.loads, path.read_text().splitlines())
    assert first["loss"] is None
    assert second["metrics"] == {"spearman": None, "loss": None}
    assert "NaN" not in path.read_text()


@pytest.mark.parametrize(("updates", "warned"), [(5, False), (14, False), (20, True), (40, True)])
def test_a_short_run_is_judged_at_its_end(updates: int, warned: bool) -> None:
    said: list[Event] = []
    watch = ChanceWatch(0.693, 1e-3, said.append)
    for update in range(1, updates + 1):
        assert not said
        watch(replace(progress(update, 0.70), total=updates))
    assert bool(said) == warned
    if said:
        assert isinstance(said[0], Warned)
        assert "Try more updates (train.epochs), a lower rate" in said[0].text


def test_a_short_run_that_learned_late_is_not_warned_of() -> None:
    said: list[Event] = []
    watch = ChanceWatch(0.693, 1e-3, said.append)
    for update in range(1, 21):
        watch(replace(progress(update, 0.75 if update < 15 else 0.6), total=20))
    assert not said
