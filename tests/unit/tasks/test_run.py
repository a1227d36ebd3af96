"""What a run tells beside its updates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.micro import save_micro_encoder
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
from zh_albert.training.config import TrainConfig
from zh_albert.training.events import Event, Observer, StageProgress

WINDOW = WindowConfig(max_length=16, stride=4)
TRAIN = TrainConfig(max_updates=1, peak_lr=1e-9, batch_tokens=256)
WORDS = ["满意", "失望"] * 8
DEV = "tokens of dev"
START = "tokens read for the head's start"


def learn_classes(micro: Path, listen: Observer, out: Path | None = None) -> None:
    config = classification.FinetuneConfig(
        model=classification.ModelConfig(pooling="mean"), window=WINDOW, train=TRAIN
    )
    # more than a few of each class: recipes of n-grams are tried
    examples = [TextExample(f"房间{word}", word) for word in WORDS * 5]
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
        (learn_classes, {"n-grams are tried": 12, START: 80 * 6, DEV: 4 * 6}),
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
