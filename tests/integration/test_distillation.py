"""The distillation job on a few made-up sentences, from a small random teacher."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file

from tests.helpers.commands import Cli
from tests.helpers.regression import stopped
from zh_albert.checkpoints.store import save_model
from zh_albert.configio import build, merged
from zh_albert.errors import CheckpointError, ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.pretraining.dataset import PretrainingSource
from zh_albert.pretraining.distil import DistilConfig, distil
from zh_albert.tokenization.tokenizer import default_tokenizer

SIZES = AlbertConfig(
    vocab_size=8960,
    embedding_size=32,
    hidden_size=32,
    num_hidden_layers=4,
    num_attention_heads=2,
    intermediate_size=64,
    hidden_act="gelu",
    initializer_range=0.12,
    sharing="none",
)


def save_teacher(folder: Path, config: AlbertConfig = SIZES) -> Path:
    torch.manual_seed(0)
    encoder = AlbertEncoder(config)
    with torch.no_grad():
        encoder.embeddings.projection.weight.copy_(torch.eye(32))
    files = default_tokenizer().save_files()
    save_model(folder, model=encoder, config=config, files=files, task={"name": "encoder"})
    return folder


def values(shards: Path, teacher: Path, out: Path, **changes: Any) -> dict[str, Any]:
    plain = {
        "out": str(out),
        "teacher": str(teacher),
        "data": {"train": str(shards), "heldout": str(shards)},
        "encoder": {
            "preset": "tiny",
            "hidden_size": 24,
            "embedding_size": 16,
            "intermediate_size": 48,
            "num_attention_heads": 2,
            "num_hidden_layers": 2,
        },
        "instances": {"length": 32},
        "loss": {"attention": 0.1},
        "train": {"epochs": 2, "peak_lr": 2e-3, "batch_tokens": 512, "evaluate_every": 10},
    }
    return merged(plain, changes)


def test_the_student_comes_nearer_and_opens_in_transformers(
    shards: Path, tmp_path: Path, cli: Cli
) -> None:
    teacher = save_teacher(tmp_path / "teacher")
    given = values(shards, teacher, tmp_path / "out")
    config = tmp_path / "run.toml"
    lines = []
    for key, value in given.items():
        if not isinstance(value, dict):
            lines.insert(0, f"{key} = {json.dumps(value)}")
            continue
        lines.append(f"[{key}]")
        lines += [f"{name} = {json.dumps(setting)}" for name, setting in value.items()]
    config.write_text("\n".join(lines))
    ran = cli("distil", config, "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["tokens"] > 0
    rows = (tmp_path / "out/training/metrics.jsonl").read_text().splitlines()
    progress = [row for row in map(json.loads, rows) if row["event"] == "progress"]
    first, last = progress[0]["measured"], progress[-1]["measured"]
    assert {"states", "states_top", "attention", "masked_accuracy"} < last.keys()
    late = progress[0]["update"] > 3  # a busy machine tells of few updates, the first one late
    assert last["states"] < (1 if late else 0.8) * first["states"] or len(progress) == 1
    opened = transformers.AlbertForMaskedLM.from_pretrained(tmp_path / "out")
    assert opened.config.hidden_act == "gelu"
    stored = load_file(tmp_path / "out/model.safetensors")
    assert not [name for name in stored if "projection" in name]


WEIGHTS_ALONE = {
    "loss": {"states": 0.0, "attention": 0.0},
    "match": [{"what": "weights", "direction": "up", "layers": "top"}],
}


@pytest.mark.parametrize("terms", [{}, WEIGHTS_ALONE], ids=["states", "weights"])
def test_stopped_and_resumed_equals_never_stopped(
    terms: dict[str, Any], shards: Path, tmp_path: Path
) -> None:
    teacher = save_teacher(tmp_path / "teacher")

    def config(name: str) -> DistilConfig:
        every = {"train": {"save_every_s": 0.0, "epochs": 1}, **terms}
        return build(DistilConfig, values(shards, teacher, tmp_path / name, **every))

    straight = distil(config("one"))
    with stopped(PretrainingSource, straight.update // 2):
        distil(config("two"))
    distil(config("two"), resume=True)
    for name in ("model.safetensors", "training/state.safetensors"):
        first, second = load_file(tmp_path / "one" / name), load_file(tmp_path / "two" / name)
        assert first.keys() == second.keys()
        learned = [key for key in first if ".left." in key or ".right." in key]
        assert bool(learned) == (bool(terms) and "state" in name)  # resumed, but not in the model
        assert all(torch.equal(first[key], second[key]) for key in first)


def test_a_student_is_gone_on_with(shards: Path, tmp_path: Path) -> None:
    teacher = save_teacher(tmp_path / "teacher")
    first = build(DistilConfig, values(shards, teacher, tmp_path / "one"))
    distil(first)
    later = {"go_on_from": str(tmp_path / "one"), "train": {"epochs": 1, "peak_lr": 1e-6}}
    distil(build(DistilConfig, values(shards, teacher, tmp_path / "two", **later)))
    scores = []
    for name in ("one", "two"):
        curve = (tmp_path / name / "curve.jsonl").read_text().splitlines()
        scores.append([json.loads(line)["masked_loss"] for line in curve])
    assert scores[1][0] == pytest.approx(min(scores[0]), rel=0.1)


def test_a_teacher_of_another_vocabulary_is_refused(shards: Path, tmp_path: Path) -> None:
    folder = save_teacher(tmp_path / "teacher", replace(SIZES, vocab_size=100))
    config = build(DistilConfig, values(shards, folder, tmp_path / "out"))
    with pytest.raises(CheckpointError, match="vocabulary has 100 rows, that of the shards 8960"):
        distil(config)


def test_a_teacher_of_the_same_size_that_reads_other_tokens_is_refused(
    shards: Path, tmp_path: Path
) -> None:
    folder = save_teacher(tmp_path / "teacher")
    (folder / "manifest.json").unlink()
    rows = (folder / "vocab.txt").read_text("utf-8").splitlines()
    rows[700], rows[701] = rows[701], rows[700]
    (folder / "vocab.txt").write_text("\n".join(rows) + "\n", "utf-8")
    config = build(DistilConfig, values(shards, folder, tmp_path / "out"))
    with pytest.raises(CheckpointError, match="2 rows of its vocabulary are other tokens"):
        distil(config)
    (folder / "vocab.txt").write_text("\n".join(rows[:5000]) + "\n", "utf-8")
    with pytest.raises(CheckpointError, match="it is truncated or belongs to another model"):
        distil(config, resume=True)


def test_a_student_of_another_vocabulary_is_not_gone_on_with(shards: Path, tmp_path: Path) -> None:
    folder = save_teacher(tmp_path / "teacher")
    begun = save_teacher(tmp_path / "begun", replace(SIZES, vocab_size=100))
    given = values(shards, folder, tmp_path / "out", go_on_from=str(begun))
    with pytest.raises(CheckpointError, match="begun: its vocabulary has 100 rows"):
        distil(build(DistilConfig, given))


def test_no_layer_to_match_is_refused(shards: Path, tmp_path: Path) -> None:
    folder = save_teacher(tmp_path / "teacher")
    config = build(DistilConfig, values(shards, folder, tmp_path / "out", teacher_top=0))
    with pytest.raises(ConfigError, match="teacher_top must be from 1 to 4"):
        distil(config)


def test_another_teacher_in_the_same_folder_is_noticed(shards: Path, tmp_path: Path) -> None:
    folder = save_teacher(tmp_path / "teacher")
    config = build(DistilConfig, values(shards, folder, tmp_path / "out", train={"epochs": 1}))
    distil(config)
    distil(config, resume=True)
    save_teacher(folder, replace(SIZES, initializer_range=0.1))
    with pytest.raises(ConfigError, match="only with the settings it was started with"):
        distil(config, resume=True)


def test_a_student_whose_heads_learn_nothing_has_the_last_weights(
    shards: Path, tmp_path: Path
) -> None:
    teacher, train = save_teacher(tmp_path / "teacher"), {"epochs": 1, "evaluate_every": 3}
    changes = {"loss": {"heads": 0.0, "attention": 0.0}, "train": train}
    run = distil(build(DistilConfig, values(shards, teacher, tmp_path / "out", **changes)))
    assert run.best_score is None
    kept = load_file(tmp_path / "out" / "model.safetensors")
    state = load_file(tmp_path / "out" / "training" / "state.safetensors")
    name = next(key for key in state if key.endswith("encoder.ffn.0.up.weight"))
    [ours] = [key for key in kept if kept[key].shape == state[name].shape and "ffn" in key]
    torch.testing.assert_close(kept[ours].float(), state[name], rtol=1e-2, atol=1e-3)


def test_a_projection_of_states_is_learned_at_equal_width(shards: Path, tmp_path: Path) -> None:
    changes = {
        "encoder": {"hidden_size": 32, "num_attention_heads": 2},
        "loss": {"states": 0.0, "attention": 0.0},
        "match": [{"what": "states", "projection": True}],
        "train": {"epochs": 1},
    }
    teacher = save_teacher(tmp_path / "teacher")
    distil(build(DistilConfig, values(shards, teacher, tmp_path / "out", **changes)))
    state = load_file(tmp_path / "out" / "training" / "state.safetensors")
    found = [state[name] for name in state if "projections" in name and name.endswith("weight")]
    assert found
    assert all(matrix.shape == (32, 32) for matrix in found)
