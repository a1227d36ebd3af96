"""The pretraining job on a few made-up sentences."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from tests.helpers.commands import Cli
from tests.helpers.regression import stopped
from tests.helpers.task_files import THINGS
from zh_albert import load
from zh_albert.checkpoints.store import save_model
from zh_albert.errors import CheckpointError, ConfigError, DataError
from zh_albert.model.config import PRESETS
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.pretraining import run
from zh_albert.pretraining.dataset import PretrainingSource
from zh_albert.pretraining.shards import open_shards
from zh_albert.tokenization.tokenizer import load_tokenizer
from zh_albert.training.resume import read_run_state

SMALL = {
    "embedding_size": 32,
    "hidden_size": 96,
    "intermediate_size": 192,
    "num_attention_heads": 4,
    "num_hidden_layers": 1,
}


def settings(shards: Path, out: Path, **changes: Any) -> run.PretrainConfig:
    from zh_albert.configio import build, merged

    values = {
        "out": out,
        "data": {"train": shards, "heldout": shards},
        "encoder": SMALL,
        "start": {"from": "random"},
        "instances": {"length": 32},
        "train": {"epochs": 2, "peak_lr": 1e-3, "batch_tokens": 512, "evaluate_every": 5},
    }
    return build(run.PretrainConfig, merged(values, changes))


def test_a_folder_named_twice_is_read_twice_and_none_is_refused(
    shards: Path, tmp_path: Path
) -> None:
    once = run.pretrain(settings(shards, tmp_path / "once"))
    both = {"train": [str(shards), str(shards)]}
    twice = run.pretrain(settings(shards, tmp_path / "twice", data=both))
    assert 1.9 * once.tokens < twice.tokens < 2.1 * once.tokens
    with pytest.raises(ConfigError, match=r"data\.train must name at least one folder"):
        settings(shards, tmp_path / "none", data={"train": []})


@pytest.mark.slow
def test_it_learns_and_writes_a_folder_that_transformers_opens(
    shards: Path, tmp_path: Path, cli: Cli
) -> None:
    import transformers

    config = tmp_path / "run.toml"
    config.write_text(
        f"""
out = "{tmp_path / "out"}"
[data]
train = "{shards}"
heldout = "{shards}"
[encoder]
embedding_size = 64
hidden_size = 128
intermediate_size = 256
num_attention_heads = 4
num_hidden_layers = 2
[start]
from = "statistics"
[instances]
length = 32
[train]
epochs = 10
batch_tokens = 512
peak_lr = 1e-3
evaluate_every = 20
"""
    )
    ran = cli("pretrain", config, "--json")
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    assert result["masked_accuracy"] > 0.4  # the commonest token alone has a fifth
    curve = [json.loads(line) for line in (tmp_path / "out/curve.jsonl").read_text().splitlines()]
    assert curve[-1]["masked_accuracy"] == pytest.approx(result["masked_accuracy"], abs=1e-4)
    assert [row["tokens"] for row in curve] == sorted(row["tokens"] for row in curve)
    lines = (tmp_path / "out/training/metrics.jsonl").read_text().splitlines()
    log = [json.loads(line) for line in lines]
    shown = [row["measured"] for row in log if row["event"] == "progress"][-1]
    assert {"masked_loss", "masked_accuracy", "order_accuracy"} == shown.keys()
    opened = transformers.AlbertForMaskedLM.from_pretrained(tmp_path / "out")
    assert opened.config.vocab_size == 8960
    filler = load(str(tmp_path / "out"))
    assert filler.max_length == 32  # what it was trained on
    assert len(filler(f"{THINGS[0]}[MASK][MASK]。")[0][0].candidates) == 5
    again = cli("pretrain", config)
    assert again.code == 2
    assert "add --resume" in again.err


@pytest.mark.parametrize("command", ["pretrain", "distil"])
def test_resuming_nothing_is_told(tmp_path: Path, cli: Cli, command: str) -> None:
    config = tmp_path / "run.toml"
    teacher = 'teacher = "encoder"' if command == "distil" else ""
    data = f'[data]\ntrain = "{tmp_path / "none"}"\nheldout = "{tmp_path / "none"}"\n'
    config.write_text(f'out = "{tmp_path / "misspelt"}"\n{teacher}\n{data}')
    ran = cli(command, config, "--resume")
    assert ran.code == 2
    first = ran.err.splitlines()[0]
    assert first == f"nothing to resume in {tmp_path / 'misspelt'}: starting anew"


def test_stopped_moved_and_resumed_equals_never_stopped(shards: Path, tmp_path: Path) -> None:
    every = {"train": {"save_every_s": 0.0}}
    straight = run.pretrain(settings(shards, tmp_path / "one", **every))
    with stopped(PretrainingSource, straight.update // 2):
        run.pretrain(settings(shards, tmp_path / "two", **every))
    torch.manual_seed(7)
    shutil.copytree(tmp_path / "two", tmp_path / "moved")  # this process holds the other
    run.pretrain(settings(shards, tmp_path / "moved", **every), resume=True)
    for name in ("model.safetensors", "training/state.safetensors"):
        first, second = load_file(tmp_path / "one" / name), load_file(tmp_path / "moved" / name)
        assert first.keys() == second.keys()
        assert all(torch.equal(first[key], second[key]) for key in first)


def test_going_on_from_an_encoder_begins_where_it_ended(shards: Path, tmp_path: Path) -> None:
    run.pretrain(settings(shards, tmp_path / "one"))
    begin = {"start": {"from": str(tmp_path / "one")}}
    config = settings(shards, tmp_path / "two", **begin)
    tokenizer = load_tokenizer(shards)
    opened = open_shards(shards, tokenizer=tokenizer)
    model = run.build_model(config, tokenizer, opened)
    stored = load_file(tmp_path / "one" / "model.safetensors")
    bias = stored["predictions.bias"].float()
    torch.testing.assert_close(model.masked_lm.bias.detach(), bias)

    larger = replace(config, encoder=replace(config.encoder, num_hidden_layers=7))
    with pytest.raises(ConfigError, match=r"num_hidden_layers would be 7, but start\.from"):
        run.build_model(larger, tokenizer, opened)


def test_an_encoder_that_does_not_fit_the_shards_is_refused(shards: Path, tmp_path: Path) -> None:
    sizes = replace(PRESETS["tiny"], vocab_size=9000, hidden_size=24, num_attention_heads=2)
    folder = tmp_path / "encoder"
    save_model(folder, model=AlbertForPretraining(sizes), config=sizes, files={}, task={})
    with pytest.raises(CheckpointError, match="its vocabulary has 9000 rows, that of the shards"):
        run.pretrain(settings(shards, tmp_path / "out", start={"from": str(folder)}))
    long = {"instances": {"length": 600}, "train": {"batch_tokens": 1024}}
    with pytest.raises(ConfigError, match="length is 600, but the encoder has 512 positions"):
        run.pretrain(settings(shards, tmp_path / "long", **long))


def test_missing_shards_and_unknown_sizes_are_said(shards: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="shards"):
        run.pretrain(settings(shards, tmp_path / "out", data={"heldout": tmp_path}))
    with pytest.raises(ConfigError, match="did you mean 'tiny'"):
        settings(shards, tmp_path / "out", encoder={"preset": "tinny"})
    unused = {"from": "random", "statistics": {"sharpness": 3.0}}
    with pytest.raises(ConfigError, match=r"start\.statistics is for start\.from"):
        settings(shards, tmp_path / "out", start=unused)


def write_config(path: Path, shards: Path, out: Path, train: str) -> Path:
    path.write_text(
        f"""
out = "{out}"
[data]
train = "{shards}"
heldout = "{shards}"
[encoder]
embedding_size = 32
hidden_size = 96
intermediate_size = 192
num_attention_heads = 4
num_hidden_layers = 1
[start]
from = "random"
[instances]
length = 32
[train]
epochs = 1
peak_lr = 1e-3
batch_tokens = 512
{train}
"""
    )
    return path


@pytest.mark.slow
def test_two_processes_train_like_one_that_accumulates(shards: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = ["-m", "zh_albert.cli", "pretrain"]
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    for name, prefix, train in (("one", [], "accumulation = 2"), ("two", torchrun, "")):
        config = write_config(tmp_path / f"{name}.toml", shards, tmp_path / name, train)
        subprocess.run(
            [sys.executable, *prefix, *command, str(config)],
            check=True,
            capture_output=True,
            env=environment,
        )
    first, second = (
        load_file(tmp_path / name / "training/state.safetensors") for name in ("one", "two")
    )
    assert first.keys() == second.keys()
    for name in first:
        torch.testing.assert_close(first[name], second[name], rtol=1e-3, atol=1e-4)
    one, two = (read_run_state(tmp_path / name / "training") for name in ("one", "two"))
    assert one is not None
    assert two is not None
    assert one[0].tokens == two[0].tokens


def held_out_losses(out: Path) -> list[float]:
    lines = (out / "training/metrics.jsonl").read_text().splitlines()
    events = [event for event in map(json.loads, lines) if event["event"] == "evaluation"]
    return [event["metrics"]["masked_loss"] for event in events]


def test_lamb_learns_too(shards: Path, tmp_path: Path) -> None:
    lamb = {"optimizer": "lamb", "peak_lr": 2e-2, "epochs": 3, "evaluate_every": 10}
    run.pretrain(settings(shards, tmp_path / "out", train=lamb))
    losses = held_out_losses(tmp_path / "out")
    assert losses[-1] < losses[0] - 0.5


def test_another_corpus_is_gone_on_with(shards: Path, tmp_path: Path) -> None:
    from corpora_tools.build import build_shards
    from corpora_tools.build_parts import BuildConfig

    run.pretrain(settings(shards, tmp_path / "general"))
    text = "被告人违反合同约定。法院判决赔偿损失。原告提出上诉申请。双方达成和解协议。"
    rows = [json.dumps({"text": text}, ensure_ascii=False)] * 40
    (tmp_path / "law.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    build_shards([tmp_path / "law.jsonl"], tmp_path / "law", BuildConfig())
    begin = {"start": {"from": str(tmp_path / "general")}, "train": {"epochs": 20}}
    run.pretrain(settings(tmp_path / "law", tmp_path / "adapted", **begin))
    losses = held_out_losses(tmp_path / "adapted")
    assert losses[-1] < losses[0] - 2
