"""Short runs with each method that changes training: ``python -m tests.helpers.method_runs``.

As a program it runs all of them, one after another, in as many processes as torchrun started.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from tests.helpers.micro import CONFIG
from tests.helpers.task_files import reviews
from zh_albert.configio import build
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.examples import read_text_examples
from zh_albert.tasks.classification.finetune import FinetuneConfig, finetune
from zh_albert.tasks.classification.heads import OneClass
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import default_tokenizer

STATES = {"what": "states", "loss": "mse", "projection": True}
METHODS: dict[str, dict[str, Any]] = {
    "match": {"match": [STATES, {"what": "attention"}]},
    "hints": {"match": [{**STATES, "layers": [[1, 2]]}], "match_only": True},
    "weights": {"match": [{"what": "weights", "direction": "down"}]},
    "drop": {"drop": {"rate": 0.5}},
    "learned-drop": {"drop": {"rate": 0.5, "learned": True}},
    "replace": {"replace": {"rate": 0.3, "grow": 0.9}},
    "mask": {"mask": {"sparsity": 0.5, "steps": 3}},
    "gates": {"gates": {"kinds": ["heads", "neurons", "embeddings"]}},
    "quantize": {"quantize": {"bits": 4, "start": 0.4}},
    "booster": {"booster": {"shared": 1, "weight": 0.5}},
    "greedy": {},
}
"""Settings by method."""
_TAUGHT = ("match", "hints", "weights", "replace", "booster", "greedy")


def save_models(folder: Path) -> None:
    """Write examples, a student of two layers and teachers of four, with random weights."""
    reviews(folder / "reviews.jsonl", count=32)
    for seed, (name, layers, width) in enumerate(
        (
            *(("student", 2, 32), ("teacher", 4, 32), ("second", 4, 32), ("third", 4, 32)),
            ("wide", 4, 48),
        ),
        start=2,
    ):
        torch.manual_seed(seed)
        sizes = replace(CONFIG, sharing="none", num_hidden_layers=layers, hidden_size=width)
        head, window = OneClass(["negative", "positive"]), WindowConfig(max_length=16, stride=4)
        model = TextClassifier(sizes, default_tokenizer(), head, window=window, pooling="mean")
        model.save(folder / name, card="random weights", dtype=torch.float32)


def run(
    method: str, folder: Path, out: Path, *, resume: bool = False, **train: Any
) -> TextClassifier:
    """Train the student of a folder by a method; return it.

    Args:
        method: See ``METHODS``.
        folder: See ``save_models``.
        out: The model folder to write.
        resume: Go on with a run that was interrupted.
        train: Settings of the loop that differ.
    """
    loop = {"epochs": 3, "peak_lr": 5e-3, "batch_tokens": 32, "precision": "fp32", **train}
    teacher = folder / ("wide" if method == "weights" else "teacher")
    taught = {"teacher": {"model": str(teacher), "weight": 0.0}}
    if method == "greedy":
        route = [str(folder / name) for name in ("teacher", "second", "third")]
        taught = {"teacher": {"model": route, "weight": 0.5, "turns": "greedy"}}
    values = {**METHODS[method], "model": {"ngrams": False}, "train": loop}
    config = build(FinetuneConfig, values | (taught if method in _TAUGHT else {}))
    examples = read_text_examples(folder / "reviews.jsonl")
    start = folder / "student"
    model, _ = finetune(examples, [], config, start=start, out=out, resume=resume)
    return model


if __name__ == "__main__":
    for name in sys.argv[2:] or METHODS:
        run(name, Path(sys.argv[1]), Path(sys.argv[1]) / "two" / name)
