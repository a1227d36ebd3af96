"""Measures of models."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.helpers.compression_reports import trained_classifier
from tests.helpers.micro import save_micro_models
from tests.helpers.task_files import reviews, trips
from zh_albert.checkpoints.files import EXPORT_METADATA, NGRAMS, WEIGHTS
from zh_albert.compression.measures import (
    around_weights,
    content_of,
    engines,
    right_answers,
    single_ms,
    speed_of,
    training_seconds,
    without_ngrams,
)
from zh_albert.tasks.catalog import TASKS
from zh_albert.tasks.choice.examples import ChoiceExample, Question
from zh_albert.tasks.classification.examples import TextExample
from zh_albert.tasks.classification.finetune import FinetuneConfig, finetune
from zh_albert.tasks.embedding.examples import EmbeddingExample
from zh_albert.training.config import TrainConfig

CLASSES = TASKS["classification"]


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained_classifier(tmp_path_factory.mktemp("classifier"))


@pytest.mark.slow
def test_answers_by_example_are_the_score(classifier: Path, tmp_path: Path) -> None:
    model = CLASSES.model.load(classifier)
    model.ngrams = None
    examples = CLASSES.read(reviews(tmp_path / "dev.jsonl"))
    wrong = [TextExample(one.text, "negative") for one in examples]

    right = right_answers(model, wrong)
    assert right is not None
    assert 0 < right.sum() < len(wrong)
    assert right.mean() == CLASSES.evaluate(model, wrong)["accuracy"]


def test_models_without_one_class_have_no_answers_by_example(tmp_path: Path) -> None:
    folder = save_micro_models(tmp_path)["reader"]
    assert right_answers(TASKS["reading"].model.load(folder), []) is None


def test_speed_is_that_of_the_fastest_engine_and_changes_nothing(
    classifier: Path, tmp_path: Path
) -> None:
    model, threads = CLASSES.model.load(classifier), torch.get_num_threads()
    runtime = model.runtime
    examples = CLASSES.read(reviews(tmp_path / "dev.jsonl"))
    found = speed_of(CLASSES, model, examples, texts=3, rounds=1)

    assert 0 < found["ms"] < 1000
    assert found["texts_per_second"] > 0
    assert (model.runtime, torch.get_num_threads()) == (runtime, threads)
    assert len(single_ms(CLASSES, model, examples, engines(model), rounds=1)) == len(engines(model))


@pytest.mark.slow
def test_models_of_every_kind_are_timed(tmp_path: Path) -> None:
    folders = save_micro_models(tmp_path)
    examples: dict[str, tuple[str, Any]] = {
        "pair": ("pair", TextExample(("甲", "乙"), "0")),
        "tagger": ("ner", TextExample("甲", "a")),
        "reader": ("reading", TASKS["reading"].read(trips(tmp_path / "trips.jsonl"))[0]),
        "chooser": ("choice", ChoiceExample(Question("房间", "什么？", ("好", "坏")), 1)),
        "embedder": ("embedding", EmbeddingExample("甲")),
    }
    for name, (kind, example) in examples.items():
        task = TASKS[kind]
        model = task.model.load(folders[name])
        found = speed_of(task, model, [example], texts=1, rounds=1)
        assert min(found.values()) > 0


def test_every_kind_of_example_has_a_content(tmp_path: Path) -> None:
    asked = Question("房间", "什么？", ("好", "坏"))
    (reading, *_) = TASKS["reading"].read(trips(tmp_path / "trips.jsonl"))
    pairs: Any = type("Model", (), {"pairs": True})()
    other: Any = object()

    assert content_of(other, ChoiceExample(asked, 1)) is asked
    assert content_of(other, reading) == (reading.question, reading.context)
    assert content_of(pairs, TextExample(("甲", "乙"), "a")) == ("甲", "乙")
    assert content_of(other, TextExample("甲", "a")) == "甲"
    assert content_of(other, EmbeddingExample(("甲", "乙"), 1)) == "甲"


def test_no_run_or_exported_network_is_part_of_a_model(classifier: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(classifier, tmp_path / "exported")
    files = {path.name: path.stat().st_size for path in folder.iterdir() if path.is_file()}
    for name in ("model.onnx", EXPORT_METADATA):
        (folder / name).write_bytes(b"x" * 999)
    (folder / "training").mkdir(exist_ok=True)
    (folder / "training" / "state").write_bytes(b"x" * 999)

    assert NGRAMS in files
    assert around_weights(folder) == sum(files.values()) - files[WEIGHTS]


def test_the_network_alone_is_the_same_network(classifier: Path, tmp_path: Path) -> None:
    alone = without_ngrams(classifier, tmp_path / "alone")
    whole, network = CLASSES.model.load(classifier), CLASSES.model.load(alone)
    whole.ngrams = None
    texts = ["房间很好。", "服务太差。"]

    assert (classifier / NGRAMS).is_file()
    assert network.ngrams is None
    torch.testing.assert_close(
        network.logits_of(network.encode(texts)), whole.logits_of(whole.encode(texts))
    )
    assert without_ngrams(alone, tmp_path / "again") == alone
    assert not (tmp_path / "again").exists()


def test_time_to_learn_is_measured_and_nothing_written(classifier: Path, tmp_path: Path) -> None:
    before = sorted(classifier.rglob("*"))
    examples = CLASSES.read(reviews(tmp_path / "train.jsonl", count=8))
    assert 0 < training_seconds(CLASSES, classifier, examples) < 10
    assert sorted(classifier.rglob("*")) == before


@pytest.mark.slow
def test_neutral_answers_are_judged_as_evaluate_judges_them(tmp_path: Path) -> None:
    names = ["negative", "neutral", "positive"]
    texts = [f"第{number}条评论" for number in range(30)]
    three = [TextExample(text, names[n % 3]) for n, text in enumerate(texts)]
    model, _ = finetune(three, [], FinetuneConfig(train=TrainConfig(epochs=1)), out=tmp_path / "m")
    two = [TextExample(text, names[n % 2 * 2]) for n, text in enumerate(texts)]
    for examples in (three, two):
        right = right_answers(model, examples)
        assert right is not None
        assert right.mean() == CLASSES.evaluate(model, examples)["accuracy"]
