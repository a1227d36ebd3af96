"""The score that chooses the best weights."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.micro import save_micro_encoder
from zh_albert.configio import build
from zh_albert.errors import ConfigError
from zh_albert.tasks.catalog import TASKS
from zh_albert.tasks.classification.examples import TextExample
from zh_albert.tasks.classification.finetune import ClassificationJob, FinetuneConfig
from zh_albert.tasks.run import finetune
from zh_albert.training.events import Evaluation, Event

EXAMPLES = [TextExample(text, label) for text, label in (("很好", "a"), ("很坏", "b"))] * 4
CONFIG = build(
    FinetuneConfig,
    {
        "model": {"ngrams": False},
        "window": {"max_length": 16, "stride": 4},
        "train": {"epochs": 3, "peak_lr": 1e-4, "batch_tokens": 64},
    },
)


@pytest.mark.parametrize(("metric", "best"), [(None, 2), ("accuracy", 2), ("macro_f1", 3)])
def test_it_is_the_one_that_the_settings_name(
    metric: str | None, best: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = iter([(0.5, 0.5), (0.8, 0.4), (0.7, 0.7), (0.7, 0.7)])

    def evaluate(*_: Any, **__: Any) -> dict[str, float]:
        return dict(zip(("accuracy", "macro_f1"), next(scores), strict=True))

    monkeypatch.setattr("zh_albert.tasks.classification.finetune.evaluate", evaluate)
    seen: list[Event] = []
    _, state = finetune(
        ClassificationJob,
        EXAMPLES,
        EXAMPLES,
        replace(CONFIG, metric=metric),
        init=save_micro_encoder(tmp_path / "micro"),
        out=tmp_path / "out",
        observers=[seen.append],
    )
    assert state.best_update == best * state.update // 3
    name = metric or "accuracy"
    assert {event.metric for event in seen if isinstance(event, Evaluation)} == {name}
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert f"which also chose the best epoch by {name} (so" in card
    kept = json.loads((tmp_path / "out" / "config.json").read_text())["zh_albert"]["task"]
    assert kept["metric"] == name


def test_an_unknown_one_is_told_with_those_there_are(tmp_path: Path) -> None:
    init = save_micro_encoder(tmp_path / "micro")
    config = replace(CONFIG, metric="f1")
    with pytest.raises(ConfigError, match="unknown metric 'f1'; there are: accuracy, macro_f1"):
        ClassificationJob(EXAMPLES, EXAMPLES, config, init=init)
    with pytest.raises(ConfigError, match="metric=accuracy chooses the weights by dev examples"):
        ClassificationJob(EXAMPLES, [], replace(CONFIG, metric="accuracy"), init=init)


def test_patience_without_dev_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    config = replace(CONFIG, train=replace(CONFIG.train, patience=1))
    with pytest.raises(ConfigError, match="and there are none: give some, or leave it out"):
        ClassificationJob(EXAMPLES, [], config, init=tmp_path / "nothing is here")


def test_by_default_it_is_the_tasks_main_score() -> None:
    for name, task in TASKS.items():
        if name not in ("classification", "pair"):  # by their labels
            assert task.job.metric_names[0] == task.metric
