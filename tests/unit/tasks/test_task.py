"""The face of a task."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.micro import save_micro_encoder
from zh_albert.distillation.soft_targets import TeacherConfig
from zh_albert.errors import ConfigError
from zh_albert.runtimes.runtime import TorchRuntime
from zh_albert.tasks.catalog import TASKS
from zh_albert.tasks.classification import finetune as classification
from zh_albert.tasks.classification.examples import TextExample
from zh_albert.tasks.windows import WindowConfig
from zh_albert.training import stages
from zh_albert.training.config import TrainConfig
from zh_albert.training.events import Event, Observer, StageProgress
from zh_albert.training.stages import silent

WINDOW = WindowConfig(max_length=16, stride=4)
TRAIN = TrainConfig(max_updates=1, peak_lr=1e-9, batch_tokens=256)
WORDS = ["满意", "失望"] * 8


def learn_classes(micro: Path, listen: Observer, out: Path | None = None) -> None:
    config = classification.FinetuneConfig(
        model=classification.ModelConfig(pooling="mean"), window=WINDOW, train=TRAIN
    )
    examples = [TextExample(f"房间{word}", word) for word in WORDS]
    classification.finetune(examples, examples[:4], config, init=micro, out=out, observers=[listen])


def test_how_far_a_file_is_scored_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "_REPORT_EVERY_S", 0.0)
    monkeypatch.setattr(TorchRuntime, "batch_tokens", 16)
    learn_classes(save_micro_encoder(tmp_path / "micro"), silent, tmp_path / "model")
    rows = [{"text": f"房间{word}", "label": word} for word in WORDS]
    file = tmp_path / "some.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    events: list[Event] = []

    scores = TASKS["classification"].score(tmp_path / "model", file, progress=events.append)

    assert scores["examples"] == len(WORDS)
    told = [event for event in events if isinstance(event, StageProgress)]
    assert {(event.what, event.total) for event in told} == {("tokens of some.jsonl", 96)}
    assert [event.done for event in told] == [*range(12, 97, 12)]


@pytest.mark.parametrize("name", TASKS)
def test_every_task_checks_the_settings_that_all_have(name: str) -> None:
    settings = TASKS[name].job.config_type
    with pytest.raises(ConfigError, match="match_only learns nothing"):
        settings(match_only=True)
    with pytest.raises(ConfigError, match=r"teacher\.weight must be above 0"):
        settings(teacher=TeacherConfig(model="x", weight=0.0))
