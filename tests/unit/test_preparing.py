"""What takes its time before the first update tells how far it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.micro import save_micro_encoder
from zh_albert.cli.progress import TrainingDisplay
from zh_albert.tasks.choice import finetune as choice
from zh_albert.tasks.choice.examples import ChoiceExample, Question
from zh_albert.tasks.classification import finetune as classification
from zh_albert.tasks.classification.examples import TextExample
from zh_albert.tasks.ner import finetune as ner
from zh_albert.tasks.ner.examples import EntityExample, EntitySpan
from zh_albert.tasks.windows import WindowConfig
from zh_albert.training import preparing
from zh_albert.training.config import TrainConfig
from zh_albert.training.events import Event, Observer, Preparation
from zh_albert.training.preparing import Preparing

WINDOW = WindowConfig(max_length=16, stride=4)
TRAIN = TrainConfig(max_updates=1, peak_lr=1e-9, batch_tokens=256)
WORDS = ["满意", "失望"] * 8
START = "the encoder reads windows for the head's start"


def test_it_tells_once_a_second_and_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(preparing.time, "monotonic", lambda: clock[0])
    events: list[Event] = []
    count = Preparing("things", 50, events.append, done=10)
    for _ in range(20):
        clock[0] += 0.4
        count.advance(2)

    told = [event for event in events if isinstance(event, Preparation)]
    assert [event.done for event in told] == [16, 22, 28, 34, 40, 46, 50]
    assert told[0].per_second == pytest.approx(5)  # those there before do not count
    assert told[0].seconds_left == pytest.approx((50 - 16) / 5)
    assert told[-1].seconds_left == 0


def learn_classes(micro: Path, listen: Observer) -> None:
    config = classification.FinetuneConfig(
        model=classification.ModelConfig(pooling="mean"), window=WINDOW, train=TRAIN
    )
    examples = [TextExample(f"房间{word}", word) for word in WORDS]
    classification.finetune(examples, [], config, init=micro, observers=[listen])


def learn_choices(micro: Path, listen: Observer) -> None:
    config = choice.FinetuneConfig(window=WINDOW, train=TRAIN)
    asked = [Question("房间", "什么？", ("满意", "失望", word)) for word in WORDS]
    examples = [ChoiceExample(question, 0) for question in asked]
    choice.finetune(examples, [], config, init=micro, observers=[listen])


def learn_names(micro: Path, listen: Observer) -> None:
    config = ner.FinetuneConfig(window=WINDOW, train=TRAIN)
    examples = [EntityExample(f"{word}的房间", (EntitySpan(0, 2, "词"),)) for word in WORDS]
    ner.finetune(examples, [], config, init=micro, observers=[listen])


@pytest.mark.parametrize(
    ("learn", "told"),
    [
        (learn_classes, {"n-grams are tried": 9, START: 16}),
        (learn_choices, {START: 48}),
        (learn_names, {"updates of n-grams": 20}),
    ],
)
def test_tasks_tell_what_they_prepare(
    learn: Callable[[Path, Observer], None], told: dict[str, int], tmp_path: Path
) -> None:
    last: dict[str, tuple[int, int]] = {}

    def listen(event: Event) -> None:
        if isinstance(event, Preparation):
            last[event.what] = event.done, event.total

    learn(save_micro_encoder(tmp_path), listen)
    assert last == {what: (total, total) for what, total in told.items()}


def test_slow_work_is_shown_with_a_rate(capsys: pytest.CaptureFixture[str]) -> None:
    with TrainingDisplay() as display:
        display(
            Preparation(what="n-grams are tried", done=3, total=9, per_second=0.25, seconds_left=24)
        )
    assert capsys.readouterr().err == "n-grams are tried: 3 of 9, 0.2/s, 0:24 left\n"
