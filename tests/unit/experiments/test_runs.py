"""Runs are computed once, whoever asks and whatever happened before."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from filelock import FileLock

from tests.helpers.toy_runs import ToyRuns, toy_arms, toy_comparison
from zh_albert.errors import DataError
from zh_albert.experiments import runs
from zh_albert.experiments.arms import Arm, run_key
from zh_albert.experiments.runs import Outcome
from zh_albert.training.events import Event, StageProgress, Warned


def key(arm: Arm, seed: int) -> str:
    return run_key(arm.settings, seed, inputs="data 1", version=1)


def test_runs_are_made_seed_by_seed_and_once(tmp_path: Path) -> None:
    run = ToyRuns()
    first = toy_comparison(tmp_path, run)
    assert run.computed == [(score, seed) for seed in (1, 2, 3, 4) for score in (0.6, 0.5, 0.7)]

    again = toy_comparison(tmp_path, none := ToyRuns())
    assert none.computed == []
    assert again.as_json() == first.as_json()
    assert not list(tmp_path.glob("runs/*.lock"))


def test_other_reports_share_the_runs_of_equal_settings(tmp_path: Path) -> None:
    toy_comparison(tmp_path)
    arms = [
        Arm(name="four bytes", settings={"bytes": 4000, "score": 0.6}),  # base, by another name
        Arm(name="the same", settings={"bytes": 4000, "score": 0.6}),
        Arm(name="new", settings={"score": 0.1}),
    ]
    run = ToyRuns()
    comparison = toy_comparison(tmp_path, run, arms=arms, seeds=[4, 5])

    assert run.computed == [(0.1, 4), (0.6, 5), (0.1, 5)]
    assert comparison.summary("four bytes", "score") == comparison.summary("the same", "score")


@pytest.mark.parametrize(
    ("changed", "computed"),
    [
        ({"inputs": "data 2"}, 12),
        ({"version": 2}, 12),
        ({"seeds": [1, 9]}, 3),
        ({"arms": [*toy_arms()[:2], Arm(name="large", settings={"score": 0.71})]}, 4),
    ],
)
def test_what_changes_a_result_computes_it_again(
    changed: dict[str, object], computed: int, tmp_path: Path
) -> None:
    toy_comparison(tmp_path)
    toy_comparison(tmp_path, run := ToyRuns(), **changed)

    assert len(run.computed) == computed


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1)])
def test_a_stopped_comparison_goes_on_where_it_was(error: BaseException, tmp_path: Path) -> None:
    with pytest.raises(type(error)):
        toy_comparison(tmp_path, ToyRuns(failing=[0.7], error=error))
    toy_comparison(tmp_path, run := ToyRuns())

    assert run.computed[0] == (0.7, 1)
    assert len(run.computed) == 12 - 2


def test_a_failing_arm_stops_no_other_and_is_tried_again(tmp_path: Path) -> None:
    events: list[Event] = []
    broken = toy_comparison(tmp_path, ToyRuns(failing=[0.5]), progress=events.append)

    assert broken.failures["int8"] == dict.fromkeys((1, 2, 3, 4), "ValueError: no such layer | 7")
    assert [len(broken.outcomes[name]) for name in ("base", "int8", "large")] == [4, 0, 4]
    told = [event.text for event in events if isinstance(event, Warned)]
    assert told[0].startswith("int8, seed 1 failed: ValueError: no such layer | 7;")
    assert len(told) == 4
    record = json.loads((tmp_path / "runs" / f"{key(toy_arms()[1], 1)}.failed.json").read_bytes())
    assert "toy_runs.py" in record["traceback"]

    mended = toy_comparison(tmp_path, run := ToyRuns())
    assert run.computed == [(0.5, seed) for seed in (1, 2, 3, 4)]
    assert not mended.failures["int8"]
    assert not list(tmp_path.glob("runs/*.failed.json"))


def test_progress_counts_kept_runs_and_tells_the_time_left(tmp_path: Path) -> None:
    toy_comparison(tmp_path, seeds=[1])
    events: list[Event] = []
    toy_comparison(tmp_path, progress=events.append)

    last = events[-1]
    assert isinstance(last, StageProgress)
    assert (last.what, last.done, last.total, last.seconds_left) == ("runs", 12, 12, 0)


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (Outcome({"score": float("nan")}), "finite number as 'score', found nan"),
        (Outcome({"score": "high"}), "finite number as 'score', found 'high'"),  # type: ignore[dict-item]
        (Outcome({"score": 1}, np.ones((2, 2))), "array of shape (2, 2)"),
        (Outcome({"score": 1}, np.array([1, np.inf])), "finite outcomes of examples"),
    ],
)
def test_a_result_that_is_none_is_a_failure(outcome: Outcome, said: str, tmp_path: Path) -> None:
    def run(settings: object, seed: int) -> Outcome:
        return outcome

    comparison = toy_comparison(tmp_path, run, seeds=[1])  # type: ignore[arg-type]
    assert not comparison.outcomes["base"]
    assert said in comparison.failures["base"][1]


def test_outcomes_of_examples_are_kept(tmp_path: Path) -> None:
    first = toy_comparison(tmp_path, ToyRuns(examples=30))
    again = toy_comparison(tmp_path)

    for seed in (1, 4):
        kept, made = (one.outcomes["int8"][seed].per_example for one in (again, first))
        assert kept is not None
        assert made is not None
        np.testing.assert_array_equal(kept, made)
    assert len(list(tmp_path.glob("runs/*.npy"))) == 12


@pytest.mark.parametrize("ending", [".json", ".npy"])
@pytest.mark.parametrize("damage", ["cut", "changed", "other type"])
def test_a_damaged_result_is_named(ending: str, damage: str, tmp_path: Path) -> None:
    toy_comparison(tmp_path, ToyRuns(examples=30))
    path = tmp_path / "runs" / (key(toy_arms()[0], 2) + ending)
    content = path.read_bytes()
    damaged = {
        "cut": content[: len(content) // 2],
        "changed": content.replace(b"4000", b"4001") if ending == ".json" else content[:-1] + b"\7",
        "other type": b"[1, 2]",
    }
    path.write_bytes(damaged[damage])

    with pytest.raises(DataError, match=r"damaged.*delete the file") as caught:
        toy_comparison(tmp_path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_of_examples_is_named(tmp_path: Path) -> None:
    toy_comparison(tmp_path, ToyRuns(examples=30))
    (tmp_path / "runs" / f"{key(toy_arms()[0], 2)}.npy").unlink()

    with pytest.raises(DataError, match=r"\.npy: damaged"):
        toy_comparison(tmp_path)


PROCESS = """
import sys, time
from pathlib import Path
from tests.helpers.toy_runs import ToyRuns, toy_comparison

out, toy = Path(sys.argv[1]), ToyRuns(examples=10)
def run(settings, seed):
    with (out / "computed").open("a") as file:
        file.write(f"{settings['score']} {seed}\\n")
    time.sleep(0.1)
    return toy(settings, seed)
(out / f"ready {sys.argv[2]}").touch()
while len(list(out.glob("ready *"))) < 2:
    time.sleep(0.01)
print(toy_comparison(out, run).summary("base", "score").runs)
"""


@pytest.mark.slow
def test_two_processes_divide_the_runs(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROCESS, str(tmp_path)]
    both = [subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True) for name in "ab"]
    assert [process.communicate(timeout=60)[0] for process in both] == ["4\n", "4\n"]

    computed = (tmp_path / "computed").read_text("utf-8").splitlines()
    assert len(computed) == len(set(computed)) == 12


def test_a_run_of_another_process_is_returned_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = key(toy_arms()[0], 1)
    lock = FileLock(tmp_path / "runs" / f"{held}.lock")
    (tmp_path / "runs").mkdir()
    lock.acquire()
    waits: list[float] = []

    def sleep(seconds: float) -> None:  # the other process ends while we wait
        waits.append(seconds)
        if len(waits) == 2:
            lock.release()

    # The module's own clock, not everybody's: threads of other tests may sleep meanwhile.
    clock = SimpleNamespace(sleep=sleep, time=time.time, perf_counter=time.perf_counter)
    monkeypatch.setattr(runs, "time", clock)
    toy_comparison(tmp_path, run := ToyRuns())

    assert len(waits) == 2
    assert run.computed[-1] == (0.6, 1)
    assert len(run.computed) == 12


def test_a_failure_of_another_process_is_not_repeated(tmp_path: Path) -> None:
    class Twice(ToyRuns):
        """While the first run is computed, another process fails on the rest."""

        def __call__(self, settings: object, seed: int) -> Outcome:
            if not self.computed:
                other = ToyRuns(failing=[0.5, 0.7], error=RuntimeError("full"))
                toy_comparison(tmp_path, other, seeds=[2])
            return super().__call__(settings, seed)  # type: ignore[arg-type]

    comparison = toy_comparison(tmp_path, run := Twice(), seeds=[1, 2])

    assert run.computed == [(0.6, 1), (0.5, 1), (0.7, 1)]
    assert comparison.failures["int8"] == {2: "RuntimeError: full"}
    assert comparison.failures["base"] == {}
