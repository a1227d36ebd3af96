"""What takes its time beside the updates tells how far it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.micro import save_micro_encoder
from zh_albert.cli.progress import TrainingDisplay
from zh_albert.runtimes.runtime import TorchRuntime
from zh_albert.tasks.catalog import TASKS
from zh_albert.tasks.choice import finetune as choice
from zh_albert.tasks.choice.examples import ChoiceExample, Question
from zh_albert.tasks.classification import finetune as classification
from zh_albert.tasks.classification.examples import TextExample
from zh_albert.tasks.embedding import finetune as embedding
from zh_albert.tasks.embedding.examples import EmbeddingExample
from zh_albert.tasks.ner import finetune as ner
from zh_albert.tasks.ner.examples import EntityExample, EntitySpan
from zh_albert.tasks.reading import finetune as reading
from zh_albert.tasks.reading.examples import AnswerSpan, ReadingExample
from zh_albert.tasks.windows import WindowConfig
from zh_albert.training import stages
from zh_albert.training.config import TrainConfig
from zh_albert.training.events import Event, Observer, StageProgress
from zh_albert.training.stages import StageMeter, silent

WINDOW = WindowConfig(max_length=16, stride=4)
TRAIN = TrainConfig(max_updates=1, peak_lr=1e-9, batch_tokens=256)
WORDS = ["满意", "失望"] * 8
DEV = "tokens of dev"
START = "tokens read for the head's start"


def test_it_tells_once_a_second_and_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(stages.time, "monotonic", lambda: clock[0])
    events: list[Event] = []
    count = StageMeter("things", 50, events.append, done=10)
    for _ in range(20):
        clock[0] += 0.4
        count.advance(2)

    told = [event for event in events if isinstance(event, StageProgress)]
    assert [event.done for event in told] == [16, 22, 28, 34, 40, 46, 50]
    assert told[0].per_second == pytest.approx(5)  # those there before do not count
    assert told[0].seconds_left == pytest.approx((50 - 16) / 5)
    assert told[-1].seconds_left == 0


def learn_classes(micro: Path, listen: Observer, out: Path | None = None) -> None:
    config = classification.FinetuneConfig(
        model=classification.ModelConfig(pooling="mean"), window=WINDOW, train=TRAIN
    )
    examples = [TextExample(f"房间{word}", word) for word in WORDS]
    classification.finetune(examples, examples[:4], config, init=micro, out=out, observers=[listen])


def learn_choices(micro: Path, listen: Observer) -> None:
    config = choice.FinetuneConfig(window=WINDOW, train=TRAIN)
    asked = [Question("房间", "什么？", ("满意", "失望", word)) for word in WORDS]
    examples = [ChoiceExample(question, 0) for question in asked]
    choice.finetune(examples, examples[:4], config, init=micro, observers=[listen])


def learn_names(micro: Path, listen: Observer) -> None:
    config = ner.FinetuneConfig(window=WINDOW, train=TRAIN)
    examples = [EntityExample(f"{word}的房间", (EntitySpan(0, 2, "词"),)) for word in WORDS]
    ner.finetune(examples, examples[:4], config, init=micro, observers=[listen])


def learn_answers(micro: Path, listen: Observer) -> None:
    config = reading.FinetuneConfig(window=WINDOW, train=TRAIN)
    examples = [
        ReadingExample(f"{word}的房间", "房间？", (AnswerSpan(0, 2),), (word,)) for word in WORDS
    ]
    reading.finetune(examples, examples[:4], config, init=micro, observers=[listen])


def learn_vectors(micro: Path, listen: Observer) -> None:
    config = embedding.FinetuneConfig(window=WINDOW, train=TRAIN)
    pairs = [EmbeddingExample(("房间", word), 5 * (index % 2)) for index, word in enumerate(WORDS)]
    embedding.finetune(pairs, pairs[:4], config, init=micro, observers=[listen])


@pytest.mark.parametrize(
    ("learn", "told"),
    [
        (learn_classes, {"n-grams are tried": 12, START: 16 * 6, DEV: 4 * 6}),
        (learn_choices, {START: 16 * 33, DEV: 4 * 33}),
        (learn_names, {"updates of n-grams": 20, DEV: 4 * 7}),
        (learn_answers, {DEV: 4 * 11}),
        (learn_vectors, {DEV: 4 * 8}),
    ],
)
def test_tasks_tell_what_they_do_beside_updates(
    learn: Callable[[Path, Observer], None], told: dict[str, int], tmp_path: Path
) -> None:
    last: dict[str, tuple[int, int]] = {}

    def listen(event: Event) -> None:
        if isinstance(event, StageProgress):
            last[event.what] = event.done, event.total

    learn(save_micro_encoder(tmp_path), listen)
    assert last == {what: (total, total) for what, total in told.items()}


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


def test_slow_work_is_shown_with_a_rate(capsys: pytest.CaptureFixture[str]) -> None:
    with TrainingDisplay() as display:
        display(
            StageProgress(
                what="n-grams are tried", done=3, total=12, per_second=0.25, seconds_left=24
            )
        )
    assert capsys.readouterr().err == "n-grams are tried: 3 of 12, 0.2/s, 0:24 left\n"
