"""Fine-tuning with a teacher: one command, and what can go wrong with it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from tests.helpers.commands import QUICK, Cli
from tests.helpers.micro import save_micro_models
from tests.helpers.task_files import reviews
from zh_albert.configio import build, parse_overrides
from zh_albert.distillation import soft_targets
from zh_albert.distillation.soft_targets import TeacherConfig
from zh_albert.errors import CheckpointError, ConfigError, DataError
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.examples import (
    TextExample,
    UnlabelledText,
    read_text_examples,
    read_unlabelled_pairs,
    read_unlabelled_texts,
)
from zh_albert.tasks.classification.finetune import FinetuneConfig, finetune
from zh_albert.training import stages
from zh_albert.training.events import Evaluation, Event, StageProgress


def config_with(teacher: Path | str, **settings: float) -> FinetuneConfig:
    config = build(FinetuneConfig, parse_overrides([item.removeprefix("--set=") for item in QUICK]))
    model = replace(config.model, ngrams=False)  # they learn from labels alone
    return replace(config, model=model, teacher=TeacherConfig(model=str(teacher), **settings))


def answered(events: Sequence[Event]) -> list[StageProgress]:
    """What was told of a teacher's answers."""
    told = [event for event in events if isinstance(event, StageProgress)]
    return [event for event in told if event.what == "the teacher answers"]


@pytest.fixture
def examples(tmp_path: Path) -> list[TextExample]:
    return read_text_examples(reviews(tmp_path / "reviews.jsonl"))


def accuracy(student: TextClassifier, examples: list[TextExample]) -> float:
    found = student.scores([example.text for example in examples]).argmax(-1)
    return float(
        np.mean([student.labels[n] == e.label for n, e in zip(found, examples, strict=True)])
    )


def test_what_the_teacher_says_outweighs_wrong_labels(
    trained: Path, micro: Path, examples: list[TextExample]
) -> None:
    wrong = {"positive": "negative", "negative": "positive"}
    misled = [TextExample(e.text, wrong[str(e.label)]) for e in examples]
    student, _ = finetune(misled, [], config_with(trained, weight=1.0), init=micro)
    assert accuracy(student, examples) == 1.0
    alone, _ = finetune(misled, [], replace(config_with(trained), teacher=None), init=micro)
    assert accuracy(alone, examples) == 0.0


def test_texts_without_labels_are_learned_too(
    trained: Path, micro: Path, examples: list[TextExample]
) -> None:
    few = [examples[0], examples[8]]
    unlabelled = [UnlabelledText(example.text) for example in examples]
    student, _ = finetune(few, [], config_with(trained), unlabelled=unlabelled, init=micro)
    assert accuracy(student, examples) > 0.9
    assert student.metadata["unlabelled"] == 62  # two are among the labelled


def test_dev_texts_are_left_out_of_the_unlabelled(
    trained: Path, micro: Path, examples: list[TextExample]
) -> None:
    dev = examples[16:32]
    again = [
        UnlabelledText(f" {example.text}") for example in [*dev, *examples[32:], *examples[32:]]
    ]
    events: list[Event] = []
    student, _ = finetune(
        examples[:16],
        dev,
        config_with(trained),
        unlabelled=again,
        init=micro,
        observers=[events.append],
    )
    assert answered(events)[-1].total == 16 + 32
    assert student.metadata["unlabelled"] == 32


def test_one_command_with_a_card_and_answers_beside_the_run(
    trained: Path, micro: Path, cli: Cli, tmp_path: Path
) -> None:
    train, dev = reviews(tmp_path / "t.jsonl", count=32), reviews(tmp_path / "d.jsonl", count=8)
    further = reviews(tmp_path / "u.jsonl", count=64)
    held = tmp_path / "held.jsonl"
    held.write_text("".join(further.read_text().splitlines(keepends=True)[-4:]))
    out = tmp_path / "out"
    files = ("--train", train, "--dev", dev, "--unlabelled", further, "--out", out)
    teacher = f"--set=teacher.model={trained}"
    ran = cli("finetune", *files, "--exclude", held, "--init", micro, teacher, *QUICK, "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["accuracy"] == 1.0
    assert "4 unlabelled texts dropped" in ran.err
    assert "Taught by: model, also on 28 texts without labels." in (out / "README.md").read_text()
    [kept] = (out / "training").glob("teacher-*.npy")
    assert np.load(kept).shape == (60, 2)


def test_interrupted_while_the_teacher_answers_equals_never_interrupted(
    trained: Path,
    micro: Path,
    examples: list[TextExample],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(soft_targets, "_ASKED", 60)
    monkeypatch.setattr(stages, "_REPORT_EVERY_S", 0.0)
    config = config_with(trained)

    def stop(event: Event) -> None:
        if any(answers.done > 20 for answers in answered([event])):
            raise KeyboardInterrupt

    finetune(examples, examples, config, init=micro, out=tmp_path / "straight")
    out = tmp_path / "stopped"
    with pytest.raises(KeyboardInterrupt):
        finetune(examples, examples, config, init=micro, out=out, observers=[stop])
    events: list[Event] = []
    finetune(
        examples, examples, config, init=micro, out=out, resume=True, observers=[events.append]
    )
    assert answered(events)[0].done > 20
    both = [load_file(folder / "model.safetensors") for folder in (tmp_path / "straight", out)]
    assert all(torch.equal(both[0][name], both[1][name]) for name in both[0])


def test_answers_copied_to_another_run_spare_the_asking(
    trained: Path, micro: Path, examples: list[TextExample], tmp_path: Path
) -> None:
    config, other = config_with(trained), tmp_path / "other" / "training"
    finetune(examples, examples, config, init=micro, out=tmp_path / "first")
    other.mkdir(parents=True)
    [kept] = (tmp_path / "first" / "training").glob("teacher-*.npy")
    shutil.copy(kept, other)
    events: list[Event] = []
    config = replace(config, train=replace(config.train, seed=2, epochs=1))
    finetune(examples, [], config, init=micro, out=other.parent, observers=[events.append])
    assert not answered(events)
    assert (other.parent / "model.safetensors").exists()


def test_a_changed_teacher_is_noticed_before_it_is_asked_again(
    micro: Path, examples: list[TextExample], tmp_path: Path
) -> None:
    models = save_micro_models(tmp_path / "models")
    teacher = tmp_path / "models" / "teacher"
    labels = [replace(e, label="neither") if n == 0 else e for n, e in enumerate(examples)]
    models["classifier"].rename(teacher)
    config, out = config_with(teacher), tmp_path / "out"
    config = replace(config, train=replace(config.train, save_every_s=0))

    def stop(event: Event) -> None:
        if isinstance(event, Evaluation):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        finetune(labels, labels, config, init=micro, out=out, observers=[stop])
    [kept] = (out / "training").glob("teacher-*.npy")
    before = kept.read_bytes()
    save = TextClassifier.load(teacher)
    with torch.no_grad():
        save.module.classifier.bias.add_(1.0)
    save.save(teacher, card="", dtype=torch.float32)
    with pytest.raises(ConfigError, match="teacher and texts"):
        finetune(labels, labels, config, init=micro, out=out, resume=True)
    assert kept.read_bytes() == before


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("encoder", "expected a teacher for the task classification, found a model for encoder"),
        ("pair", "expected a teacher for the task classification, found a model for pair"),
        ("classifier", "classes: negative, positive.*found one of classes: positive, negative, n"),
        ("labeller", "found one of multi_label: 房间"),
        ("regressor", "found one of values"),
    ],
)
def test_a_teacher_of_something_else_is_refused(
    micro: Path, examples: list[TextExample], tmp_path: Path, kind: str, told: str
) -> None:
    teacher = save_micro_models(tmp_path / "models")[kind]
    with pytest.raises(CheckpointError, match=told):
        finetune(examples, [], config_with(teacher), init=micro, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_unlabelled_texts_need_a_teacher_and_a_task_that_has_one(
    micro: Path, examples: list[TextExample], cli: Cli, tmp_path: Path
) -> None:
    config = replace(config_with("x"), teacher=None)
    with pytest.raises(ConfigError, match=r"--set teacher\.model"):
        finetune(examples, [], config, unlabelled=[UnlabelledText("好")], init=micro)
    choice = tmp_path / "choice.jsonl"
    row = {"context": "好吃", "question": "如何", "choices": ["好", "坏"], "label": 0}
    choice.write_text(json.dumps(row) + "\n")
    files = ("--train", choice, "--dev", choice, "--out", tmp_path / "out")
    ran = cli("finetune", "--task", "choice", *files, "--unlabelled", choice)
    assert ran.code == 2
    assert "--unlabelled is for classification, pair, ner, not for choice" in ran.err
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text('{"text_a": "好", "text_b": "吃", "label": 1.0}\n')
    files = ("--train", pairs, "--dev", pairs, "--out", tmp_path / "out")
    ran = cli("finetune", "--task", "embedding", *files, "--set=teacher.model=x")
    assert ran.code == 2
    assert "teacher.model: this task learns from no teacher" in ran.err


def test_an_unlabelled_file_is_read_with_line_numbers(tmp_path: Path) -> None:
    path = tmp_path / "u.jsonl"
    path.write_text('{"text": "好"}\n\n{"text": "吃", "label": 3}\n')
    assert [text.text for text in read_unlabelled_texts(path)] == ["好", "吃"]
    with pytest.raises(DataError, match=r'u\.jsonl, line 1: field "text_a" is missing'):
        read_unlabelled_pairs(path)
    path.write_text('{"text": "好"}\n{"text": " "}\n')
    with pytest.raises(DataError, match=r'line 2: "text" is empty'):
        read_unlabelled_texts(path)
    path.write_text("\n")
    with pytest.raises(DataError, match="the file is empty"):
        read_unlabelled_texts(path)
