"""The report: what is written, and that nothing is computed twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.compression_reports import trained_classifier, write_report
from zh_albert.compression import report as module
from zh_albert.compression.recipe import Recipe
from zh_albert.compression.report import report
from zh_albert.errors import CheckpointError, ConfigError, DataError
from zh_albert.training.events import Evaluation, Event, StageProgress, Warned

METRICS = {"accuracy", "parameters", "bytes", "macs", "ms", "texts_per_second", "minutes"}


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained_classifier(tmp_path_factory.mktemp("classifier"))


class Counted:
    """``compress``, and how often it was called."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        self._real = module.compress
        monkeypatch.setattr(module, "compress", self)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self.calls += 1
        return self._real(*arguments, **named)


@pytest.mark.slow
def test_a_report_has_a_table_json_and_pictures(
    classifier: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted, events = Counted(monkeypatch), list[Event]()
    file, out = write_report(tmp_path, classifier), tmp_path / "out"
    made = report(file, out, seeds=2, data=tmp_path, tasks=["reviews"], progress=events.append)[
        "reviews"
    ]

    assert counted.calls == 6
    page = (out / "report.md").read_text("utf-8")
    assert "| higher, more than labels |" in page
    assert "compressed with 24 training examples, scored on 16. The model saw more." in page
    assert "- again: the whole task" in page  # what was not run
    assert "recipes that the report's file does not name: " in page
    assert "| kd, T = 4 |" in page
    assert {path.name for path in out.glob("reviews-*")} == {
        f"reviews-{what}.{form}" for what in ("ms", "mb") for form in ("png", "svg")
    }
    content = json.loads((out / "report.json").read_text("utf-8"))
    assert content["not_run"]["tasks"] == ["again"]
    arms = {arm["name"]: arm for arm in content["tasks"][0]["arms"]}
    assert METRICS | {"updates"} == set(arms["plain"]["metrics"])
    plain, bits = (arms[name]["metrics"] for name in ("plain", "4 bits"))
    assert plain["updates"]["mean"] == arms["kd, T = 4"]["metrics"]["updates"]["mean"] > 0
    assert bits["updates"]["mean"] == 0
    assert bits["bytes"]["mean"] < 0.7 * plain["bytes"]["mean"]
    assert plain["macs"]["mean"] < bits["macs"]["mean"]
    outcomes = made.outcomes["plain"]
    assert all(
        run.per_example is not None and len(run.per_example) == 16 for run in outcomes.values()
    )
    assert [event.done for event in events if isinstance(event, StageProgress)][-1]
    assert any(isinstance(event, Evaluation) for event in events)
    assert list((out / "making").iterdir()) == []  # the models are thrown away

    report(file, out, seeds=2, data=tmp_path, tasks=["reviews"])
    assert counted.calls == 6  # nothing is computed twice


@pytest.mark.slow
def test_a_killed_report_goes_on_in_the_middle_of_a_run(
    classifier: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, out = write_report(tmp_path, classifier), tmp_path / "out"
    chosen: dict[str, Any] = {"seeds": 1, "data": tmp_path, "arms": ["kd, T = 4"]}

    def kill(event: Event) -> None:
        nonlocal seen
        seen += isinstance(event, Evaluation)
        if seen == 2:  # the second run has trained, and is not measured
            raise KeyboardInterrupt

    seen = 0
    with pytest.raises(KeyboardInterrupt):
        report(file, out, progress=kill, **chosen)
    assert len(list(out.glob("runs/*.json"))) == 1
    (begun,) = (out / "making").glob("*/stages/learn/training/state.safetensors")
    assert float(next((out / "making").glob("*.seconds"), begun).stat().st_size) > 0

    counted, again = Counted(monkeypatch), list[Event]()
    whole = report(file, out, progress=again.append, **chosen)["reviews"]
    assert counted.calls == 1
    anew = report(file, tmp_path / "anew", **chosen)["reviews"]
    for name in ("plain", "kd, T = 4"):
        runs = [one.outcomes[name][1] for one in (whole, anew)]
        assert len({run.metrics["accuracy"] for run in runs}) == 1
        assert len({run.metrics["bytes"] for run in runs}) == 1  # the same weights


@pytest.mark.slow
def test_a_run_that_fails_is_told_and_the_others_go_on(
    classifier: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = module.compress

    def fail(source: Path, recipe: Recipe, *rest: Any, **named: Any) -> Any:
        if any("teacher" in (stage.tune or {}) for stage in recipe.stages):
            raise DataError("no teacher today")
        return real(source, recipe, *rest, **named)

    monkeypatch.setattr(module, "compress", fail)
    file, out, events = write_report(tmp_path, classifier), tmp_path / "out", list[Event]()
    chosen: dict[str, Any] = {"seeds": 1, "data": tmp_path, "tasks": ["reviews"]}
    made = report(file, out, progress=events.append, **chosen)["reviews"]

    assert made.failures["kd, T = 4"] == {1: "no teacher today"}
    assert 1 in made.outcomes["4 bits"]
    page = (out / "report.md").read_text("utf-8")
    assert "kd, T = 4, seed 1 failed: no teacher today" in page
    assert any(isinstance(event, Warned) and "failed" in event.text for event in events)


def test_settings_of_all_arms_are_checked_before_the_first_runs(
    classifier: Path, tmp_path: Path
) -> None:
    file = write_report(tmp_path, classifier, ("teacher.temperature=4", "teacher.temperature=0"))
    with pytest.raises(ConfigError, match=r"arm 'kd, T = 4': .*temperature must be above 0, got 0"):
        report(file, tmp_path / "out", data=tmp_path)
    assert not (tmp_path / "out" / "runs").exists()


def test_what_is_missing_is_said_before_anything_runs(classifier: Path, tmp_path: Path) -> None:
    file, out = write_report(tmp_path, classifier), tmp_path / "out"
    with pytest.raises(DataError, match=r"train\.jsonl: no such file, of task reviews; --data"):
        report(file, out, data=tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="--seeds must be at least 1, got 0"):
        report(file, out, seeds=0, data=tmp_path)
    with pytest.raises(ConfigError, match="no such file"):
        report(tmp_path / "none.toml", out)
    other = write_report(tmp_path, Path("nws"))
    with pytest.raises(CheckpointError, match="'news'"):
        report(other, out, data=tmp_path)
    assert not out.exists()
