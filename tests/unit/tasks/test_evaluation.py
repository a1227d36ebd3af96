"""What a run says when all answers on dev are alike."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.micro import save_micro_encoder
from zh_albert.configio import build
from zh_albert.tasks.catalog import TASKS
from zh_albert.tasks.classification.examples import TextExample
from zh_albert.tasks.classification.finetune import FinetuneConfig, finetune
from zh_albert.tasks.ner.examples import EntityExample, EntitySpan
from zh_albert.tasks.reading.examples import ReadingExample
from zh_albert.tasks.run import finetune as finetune_task
from zh_albert.training.events import Event, Warned

CONFIG = {
    "model": {"ngrams": False},
    "window": {"max_length": 16, "stride": 4},
    "train": {"epochs": 2, "peak_lr": 1e-9, "batch_tokens": 64},
}


def warnings_of(seen: list[Event]) -> list[str]:
    return [event.text for event in seen if isinstance(event, Warned)]


def reviews(good: int, bad: int) -> list[TextExample]:
    texts = [TextExample(f"第{n}个房间", "好评") for n in range(good)]
    return texts + [TextExample(f"第{n}张桌子", "差评") for n in range(bad)]


@pytest.mark.parametrize("kept", [False, True])
def test_a_classifier_of_one_answer_is_told_of_once(tmp_path: Path, kept: bool) -> None:
    seen: list[Event] = []
    model, state = finetune(
        reviews(40, 1),
        reviews(3, 2),
        build(FinetuneConfig, CONFIG),
        init=save_micro_encoder(tmp_path / "micro"),
        out=tmp_path / "out" if kept else None,
        observers=[seen.append],
    )
    [text] = [text for text in warnings_of(seen) if "dev" in text]
    assert "each of the 5 dev examples is '好评', but they have 2 classes" in text
    assert "class_weights=balanced" in text
    assert seen[-1] == Warned(update=state.update, text=text)
    assert model.metadata["one_sided"] == text
    assert "one_sided" not in state.best_metrics


def test_dev_of_one_class_is_not_warned_of(tmp_path: Path) -> None:
    seen: list[Event] = []
    init = save_micro_encoder(tmp_path / "micro")
    config = build(FinetuneConfig, CONFIG)
    finetune(reviews(40, 1), reviews(3, 0), config, init=init, observers=[seen.append])
    assert not warnings_of(seen)


CONTEXT = "李华昨天去了杭州。"
TAGGED = [EntityExample(CONTEXT, (EntitySpan(0, 2, "人"),))]
ASKED = [ReadingExample(CONTEXT, "谁去了？", ((0, 2),), ("李华",))]
DECLINED = [ReadingExample(CONTEXT, "为什么去？", (), ())]


@pytest.mark.parametrize(
    ("task", "train", "dev", "answers", "said"),
    [
        ("ner", TAGGED, TAGGED, [], "no entity is found in any of the dev texts"),
        ("ner", TAGGED, [replace(TAGGED[0], entities=())], [], ""),
        ("reading", ASKED + DECLINED, ASKED + DECLINED, -1e9, "declines every question"),
        ("reading", ASKED + DECLINED, ASKED + DECLINED, 1e9, "declines no question"),
        ("reading", ASKED, ASKED, 1e9, ""),
    ],
)
def test_taggers_and_readers_are_watched_too(
    task: str,
    train: list[Any],
    dev: list[Any],
    answers: Any,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if task == "ner":
        monkeypatch.setattr(
            "zh_albert.tasks.ner.tagger.TextTagger.tuned_entities",
            lambda _self, passages, _gold: [answers for _ in passages],
        )
    else:  # the threshold that dev would choose
        monkeypatch.setattr("zh_albert.tasks.reading.finetune._tuned", lambda *_: -answers)
    seen: list[Event] = []
    values = {name: CONFIG[name] for name in ("window", "train")}
    finetune_task(
        TASKS[task].job,
        train,
        dev,
        build(TASKS[task].job.config_type, values),
        init=save_micro_encoder(tmp_path / "micro"),
        observers=[seen.append],
    )
    found = warnings_of(seen)
    assert [said in text for text in found] == [True] * bool(said)
