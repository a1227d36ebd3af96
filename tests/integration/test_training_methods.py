"""Methods that change training: two processes and resumed runs come to the same weights."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from tests.helpers.method_runs import METHODS, run, save_models
from tests.helpers.regression import stopped
from zh_albert.checkpoints.store import load_config
from zh_albert.configio import build
from zh_albert.errors import ConfigError
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.examples import read_text_examples
from zh_albert.tasks.classification.finetune import ClassificationJob, FinetuneConfig, finetune

STATE = "training/state.safetensors"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Examples, a student and a teacher, and in ``one`` a run of each method."""
    made = tmp_path_factory.mktemp("methods")
    save_models(made)
    for method in METHODS:
        run(method, made, made / "one" / method, accumulation=2)
    return made


def refuse_others(folder: Path, other: Path) -> None:
    for name in ("model.safetensors", STATE):
        first, second = load_file(folder / name), load_file(other / name)
        assert first.keys() == second.keys()
        assert [key for key in first if not torch.equal(first[key], second[key])] == []


@pytest.mark.slow
def test_two_processes_equal_one_that_accumulates(folder: Path) -> None:
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    subprocess.run(
        [sys.executable, *torchrun, "-m", "tests.helpers.method_runs", str(folder)],
        check=True,
        capture_output=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        cwd=Path(__file__).parents[2],
    )
    for method in METHODS:
        refuse_others(folder / "one" / method, folder / "two" / method)


@pytest.mark.parametrize("method", METHODS)
def test_stopped_and_resumed_equals_never_stopped(
    method: str, folder: Path, tmp_path: Path
) -> None:
    often: dict[str, Any] = {"accumulation": 2, "save_every_s": 0.0}
    with stopped(ClassificationJob, 11):  # of 24 batches
        run(method, folder, tmp_path / "out", **often)
    torch.manual_seed(7)
    run(method, folder, tmp_path / "out", resume=True, **often)
    refuse_others(folder / "one" / method, tmp_path / "out")


@pytest.mark.parametrize("method", METHODS)
def test_what_is_kept_is_a_plain_student(method: str, folder: Path) -> None:
    kept = load_file(folder / "one" / method / "model.safetensors")
    assert kept.keys() == load_file(folder / "student" / "model.safetensors").keys()
    config, _ = load_config(folder / "one" / method)
    assert config == load_config(folder / "student")[0]


def events(run_folder: Path, kind: str) -> list[dict[str, Any]]:
    rows = map(json.loads, (run_folder / "training/metrics.jsonl").read_text().splitlines())
    return [row for row in rows if row["event"] == kind]


ADDED = {
    "match": {"states": 1, "attention": 1},
    "weights": {"weights": 1},
    "booster": {"booster": 1, "hint": 0.5},
}


@pytest.mark.parametrize("method", METHODS)
def test_the_log_tells_the_task_from_what_a_method_adds(method: str, folder: Path) -> None:
    rows = events(folder / "one" / method, "progress")
    assert rows
    for row in rows:
        measured = row["measured"]
        assert ("task_loss" in measured) == (method in {*ADDED, "hints", "gates"})
        if weights := ADDED.get(method):
            added = sum(weight * measured[name] for name, weight in weights.items())
            assert measured["task_loss"] + added == pytest.approx(row["loss"], rel=1e-4)


@pytest.mark.parametrize(("method", "warned"), [("match", True), ("hints", False)])
def test_a_task_that_is_not_learned_is_warned_of(
    method: str, warned: bool, folder: Path, tmp_path: Path
) -> None:
    run(method, folder, tmp_path / "out", peak_lr=1e-9, epochs=6)
    texts = [row["text"] for row in events(tmp_path / "out", "warned")]
    assert [bool(re.search(r"the loss is 0\.\d+; guessing gives", text)) for text in texts] == (
        [True] if warned else []
    )


@pytest.mark.parametrize("method", ["mask", "gates", "quantize"])
def test_a_method_that_needs_updates_is_refused_without_any(method: str, folder: Path) -> None:
    config = build(FinetuneConfig, {**METHODS[method], "train": {"epochs": 0}})
    examples = read_text_examples(folder / "reviews.jsonl")
    out = folder / "none" / method
    with pytest.raises(ConfigError, match=r"train\.epochs = 0 makes no update, .* at least 1"):
        finetune(examples, examples, config, init=folder / "student", out=out)
    assert not out.exists()


def test_hints_train_nothing_above_the_guided_layer(folder: Path) -> None:
    before, after = (
        TextClassifier.load(folder / name).module.half().state_dict()  # as it is kept
        for name in ("student", "one/hints")
    )
    above = ("encoder.attention.1.", "encoder.ffn.1.", "encoder.pooler.", "classifier.")
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert any(name.startswith("encoder.attention.0.") for name in changed)
    assert [name for name in changed if name.startswith(above)] == []


def test_masked_weights_stay_zero_in_what_is_kept(folder: Path) -> None:
    state = load_file(folder / "one/mask" / STATE)
    masks = {k: v for k, v in state.items() if k.endswith(".kept")}
    weights = load_file(folder / "one/mask/model.safetensors")
    zeros = sum(int((v == 0).sum()) for v in weights.values())
    assert len(masks) == 14  # six of each layer, the projection, the word table
    assert zeros >= sum(int((~kept).sum()) for kept in masks.values())
    for kept in masks.values():
        assert abs(int((~kept).sum()) - kept.numel() / 2) <= 1
