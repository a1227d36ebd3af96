"""Plans to a budget."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.compression_reports import trained_classifier
from tests.helpers.task_files import reviews
from zh_albert import load
from zh_albert.checkpoints.files import EXPORT_METADATA, NGRAMS
from zh_albert.checkpoints.store import load_config
from zh_albert.compression import budget as module
from zh_albert.compression import measures
from zh_albert.compression.budget import PLAN, plan
from zh_albert.compression.planned import Budget, Plan
from zh_albert.errors import ConfigError
from zh_albert.tasks.catalog import TASKS

CLASSES = TASKS["classification"]
QUICK = ("train.epochs=1", "train.batch_tokens=128", "train.peak_lr=5e-3", "train.save_every_s=0")


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained_classifier(tmp_path_factory.mktemp("classifier"))


@pytest.fixture
def planned(classifier: Path, tmp_path: Path) -> Any:
    examples = CLASSES.read(reviews(tmp_path / "train.jsonl"))

    def run(**changed: Any) -> Plan:
        limits = {k: changed.pop(k) for k in ("max_mb", "max_ms", "min_score") if k in changed}
        settings: dict[str, Any] = {"most": 1, "settings": QUICK, "out": tmp_path / "out"}
        return plan(
            classifier, examples, examples[::4], budget=Budget(**limits), **{**settings, **changed}
        )

    return run


def model_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*.*") if path.name != PLAN)


@pytest.mark.slow
def test_a_model_within_the_budget_is_written_with_its_plan(planned: Any, tmp_path: Path) -> None:
    told: list[str] = []
    made = planned(max_mb=0.14, most=2, beside_plain=True, tell=told.append)

    out = tmp_path / "out"
    assert model_bytes(out) <= 0.14e6
    best = next(one for one in made.tried if one.name == made.best)
    assert best.bytes == model_bytes(out)
    assert best.score == max(one.score for one in made.tried if one.holds)
    assert load(out)(["房间很好。"])[0].label in ("positive", "negative")
    assert load_config(out)[1]["compressed"]["recipe"] == "plan"
    assert made.beside.name == made.best
    assert len(told) == 2 + len(made.chosen)
    assert told[0] == f"the whole model: {made.candidates[0].bytes / 1e6:.3g} MB"
    assert "that no other surpasses are trained, which takes about" in told[1]
    estimated = next(one.bytes for one in made.candidates if one.name == made.best)
    assert best.bytes == pytest.approx(estimated, rel=0.03)
    lines = made.table("accuracy")
    assert [line.endswith("  best") for line in lines].count(True) == 1
    assert ", plain" in lines[-1]
    kept = json.loads((out / PLAN).read_text("utf-8"))
    assert kept["best"] == made.best
    assert len(kept["candidates"]) > 100
    assert not (out / "candidates").exists()


@pytest.mark.slow
def test_time_is_measured_on_untrained_networks(
    planned: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes = []

    def timed(_task: Any, model: Any, _some: Any, tried: Any, **_: Any) -> list[float]:
        layers, neurons = model.config.num_hidden_layers, model.config.block_neurons
        shapes.append((layers, neurons, model.config.block_heads))
        # int8 is twice as fast; a layer takes 1 ms, half a one without neurons.
        ms = layers * (0.5 if neurons else 1.0) / 2
        if len(shapes) == 9:  # a moment in which the machine does something else
            ms *= 5
        if len(shapes) > 15:  # then it is busy all the time
            ms *= 3
        return [2 * ms, ms][-len(tried) :]

    monkeypatch.setattr(measures, "single_ms", timed)
    made = planned(max_mb=9, max_ms=0.6)
    whole, each = shapes[0], shapes[2:56:2]
    assert each == each[:9] * 3  # in turn
    assert {*shapes[1:55:2], *shapes[56::2]} == {whole}  # beside each, and what was trained
    assert (len(set(shapes)), len(shapes)) == (10, 62)
    within = {(one.layers, one.neurons < 1) for one in made.candidates if (one.ms or 9) <= 0.58}
    assert within == {(1, False), (1, True), (2, True)}
    assert {one.ms for one in made.candidates if (one.layers, one.neurons) == (2, 0.25)} == {0.5}
    (best,) = made.tried
    assert (best.int8, best.holds) == (True, True)
    assert best.ms <= 0.6
    said = json.loads((tmp_path / "out" / EXPORT_METADATA).read_text("utf-8"))
    assert (said["precision"], said["dev"]["int8"]) == ("int8", best.score)
    opened = CLASSES.model.load(tmp_path / "out")
    assert opened.runtime.open().name == "onnxruntime int8"
    assert best.bytes >= model_bytes(tmp_path / "out")


def test_a_budget_that_nothing_holds_is_refused_before_any_training(
    planned: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "compress", None)
    with pytest.raises(ConfigError) as refused:
        planned(max_mb=0.05)
    said = str(refused.value)
    assert said.startswith("nothing holds 0.05 MB: of ")
    assert "the nearest is 2-layers-50-heads-25-neurons-1-blocks-8-wide-3-bits with 0.1" in said
    assert "leave the n-grams out (--no-ngrams)" in said
    assert "\n" not in said


@pytest.mark.slow
def test_n_grams_count_unless_they_are_left_out(planned: Any, tmp_path: Path) -> None:
    whole = planned(max_mb=9, out=tmp_path / "whole")
    alone = planned(max_mb=9, ngrams=False, out=tmp_path / "alone")
    size = (tmp_path / "whole" / NGRAMS).stat().st_size
    assert 0 <= whole.candidates[0].bytes - alone.candidates[0].bytes - size < 500
    assert not (tmp_path / "alone" / NGRAMS).exists()


@pytest.mark.slow
def test_a_score_that_nothing_reaches_is_said_after_training_and_may_be_lowered(
    planned: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match=r"reaches accuracy 1.01; the nearest is .* with"):
        planned(max_mb=9, min_score=1.01)
    assert not (tmp_path / "out" / "config.json").exists()
    monkeypatch.setattr(module, "compress", None)  # what was trained is kept
    made = planned(max_mb=9, min_score=0.1, resume=True)
    assert made.best == made.tried[0].name
    assert (tmp_path / "out" / "config.json").exists()
    assert planned(max_mb=9, resume=True) == made
    with pytest.raises(ConfigError, match=r"reaches accuracy 1.01; the nearest is .* with"):
        planned(max_mb=9, min_score=1.01, resume=True)  # of a finished plan, too


@pytest.mark.slow
def test_a_killed_plan_goes_on_with_the_same_candidates(
    planned: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, trained = module.compress, []

    def kill(*arguments: Any, **named: Any) -> Any:
        if trained:
            raise KeyboardInterrupt
        trained.append(named["out"])
        return real(*arguments, **named)

    monkeypatch.setattr(module, "compress", kill)
    with pytest.raises(KeyboardInterrupt):
        planned(max_mb=0.14, most=2)
    before = json.loads((tmp_path / "out" / PLAN).read_text("utf-8"))
    assert len(before["tried"]) == 1
    with pytest.raises(ConfigError, match="already holds a plan: add --resume"):
        planned(max_mb=0.14, most=2)
    with pytest.raises(ConfigError, match=r"then: # budget 0.14 MB.*now: # budget 0.15 MB"):
        planned(max_mb=0.15, most=2, resume=True)

    monkeypatch.setattr(module, "compress", real)
    made = planned(max_mb=0.14, most=2, resume=True)
    assert list(made.chosen) == before["chosen"]
    assert len(made.tried) == 2


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"max_mb": 0.0}, "--max-mb must be above 0, got 0"),
        ({"max_ms": -1.0}, "--max-ms must be above 0, got -1"),
        ({"max_mb": float("nan")}, "--max-mb must be above 0, got nan"),
        (
            {"max_mb": 1.0, "min_score": float("nan")},
            "--min-score must be a finite number, got nan",
        ),
        ({}, "expected a budget: --max-mb, --max-ms or both"),
    ],
)
def test_budgets_that_limit_nothing_are_refused(limits: dict[str, float], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Budget(**limits)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("train.epoch=1", "did you mean 'train.epochs'"),
        ("train=3", "train: .*, found 3"),
        ("teacher.weight=0", "nothing is learned from the teacher"),  # while weights are rounded
        ("teacher=news", "stage 'teach': tune.teacher: expected a table"),
        (
            "teacher.model=stage:teach",
            "stage 'teach' learns from 'teach', which is no stage before",
        ),
    ],
)
def test_settings_are_checked_before_anything_is_written(
    setting: str, said: str, planned: Any, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=said) as refused:
        planned(max_mb=9, settings=[setting])
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_damaged_plans_and_empty_data_are_refused(planned: Any, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="at least one candidate to train"):
        planned(max_mb=9, most=0)
    planned(max_mb=9)
    (tmp_path / "out" / PLAN).write_text("{", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"plan\.json: damaged"):
        planned(max_mb=9, resume=True)
