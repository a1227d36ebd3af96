"""A micro classifier with n-grams, and a report on it whose arms train for a moment."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.micro import save_micro_encoder
from tests.helpers.task_files import reviews
from zh_albert.configio import build
from zh_albert.tasks.classification.examples import read_text_examples
from zh_albert.tasks.classification.finetune import FinetuneConfig, finetune

TEXT = """
title = "A small report"
note = "Of a test."

[[tasks]]
name = "reviews"
model = "{model}"
train = "train.jsonl"
dev = "dev.jsonl"
texts = 24
choose_by = 8
note = "The model saw more."
settings = [
    "cut.layers=1",
    "tune.train.epochs=1",
    "tune.train.batch_tokens=128",
    "tune.train.save_every_s=0",
]

[[tasks]]
name = "again"
model = "{model}"
train = "train.jsonl"
dev = "dev.jsonl"
texts = 16

[[arms]]
name = "plain"
recipe = "plain"
tasks = ["reviews"]

[[arms]]
name = "kd, T = 4"
recipe = "kd"
settings = ["tune.teacher.temperature=4"]
against = "plain"
expected = "higher"
published = "more than labels"
tasks = ["reviews"]

[[arms]]
name = "4 bits"
recipe = "quantize"
settings = ["store.bits=4"]
"""


def write_report(folder: Path, model: Path, *changed: tuple[str, str]) -> Path:
    """Write a report's file, with some of its text replaced, and its task files beside it."""
    reviews(folder / "train.jsonl", count=64)
    lines = (folder / "train.jsonl").read_text("utf-8").splitlines(keepends=True)
    (folder / "dev.jsonl").write_text("".join(lines[::4]), encoding="utf-8")
    text = TEXT.format(model=model)
    for old, new in changed:
        assert old in text
        text = text.replace(old, new)
    (folder / "report.toml").write_text(text, encoding="utf-8")
    return folder / "report.toml"


def trained_classifier(folder: Path) -> Path:
    """Write a classifier of ``reviews`` with n-grams and two layers that share a block."""
    examples = read_text_examples(reviews(folder / "train.jsonl"))
    settings = {
        "train": {"epochs": 8, "peak_lr": 5e-3, "batch_tokens": 128, "precision": "fp32"},
        "window": {"max_length": 32, "stride": 8},
    }
    encoder = save_micro_encoder(folder / "encoder")
    config = build(FinetuneConfig, settings)
    finetune(examples, examples, config, init=encoder, out=folder / "model")
    return folder / "model"
