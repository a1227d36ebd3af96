"""A model from one layout into another: what is kept, what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from zh_albert.checkpoints.convert import convert
from zh_albert.checkpoints.files import count_parameters, read_tensors
from zh_albert.checkpoints.store import load_config, load_weights, save_model
from zh_albert.checkpoints.stored_model import listed
from zh_albert.errors import CheckpointError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.heads import SequenceClassifier
from zh_albert.model.lstm_encoder import build_encoder
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.tasks.catalog import network_of


def test_a_model_with_n_grams_keeps_its_vocabulary(tmp_path: Path) -> None:
    from zh_albert.checkpoints.resolve import BUNDLED

    with pytest.raises(CheckpointError, match=r"n-grams .* cannot be carried over"):
        convert(
            BUNDLED / "sentiment",
            tmp_path / "out",
            to="zh_albert",
            vocabulary=BUNDLED / "news" / "vocab.txt",
            network_of=network_of,
        )
    assert not (tmp_path / "out").exists()


CONFIG = AlbertConfig(
    vocab_size=20,
    embedding_size=4,
    hidden_size=8,
    num_hidden_layers=3,
    num_attention_heads=2,
    intermediate_size=12,
)
FILES = {"vocab.txt": b"[PAD]\n", "README.md": b"card"}
CLASSIFIER_TASK = {"name": "classification", "labels": ["a", "b"], "pooling": "first"}


@pytest.mark.parametrize(
    ("model", "task"),
    [
        (AlbertEncoder(CONFIG), {}),
        (AlbertForPretraining(CONFIG), {}),
        (SequenceClassifier(CONFIG, 2), CLASSIFIER_TASK),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_there_and_back_is_the_same(
    tmp_path: Path, model: torch.nn.Module, task: dict[str, object], dtype: torch.dtype
) -> None:
    first, second, third = (tmp_path / name for name in "abc")
    save_model(first, model=model, config=CONFIG, files=FILES, task=task, dtype=dtype)
    convert(first, second, to="huggingface", network_of=network_of)
    convert(second, third, to="zh_albert", network_of=network_of)
    before, after = read_tensors(first), read_tensors(third)
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert load_config(first) == load_config(third)
    assert {path.name: path.read_bytes() for path in third.iterdir()} == {
        path.name: path.read_bytes() for path in first.iterdir()
    }
    assert count_parameters(first) == sum(p.numel() for p in model.parameters())


def test_layers_that_transformers_cannot_share_become_copies(tmp_path: Path) -> None:
    config = replace(CONFIG, sharing="attention")
    model = AlbertEncoder(config)
    save_model(tmp_path / "a", model=model, config=config, files=FILES, task={})
    convert(tmp_path / "a", tmp_path / "b", to="huggingface")
    assert load_config(tmp_path / "b")[0].sharing == "none"
    shared = sum(p.numel() for p in model.attention.parameters())
    assert count_parameters(tmp_path / "b") == count_parameters(tmp_path / "a") + 2 * shared


def test_a_plan_becomes_copies_where_it_cannot_be_said(tmp_path: Path) -> None:
    config = replace(CONFIG, plan=((0, 0), (1, 0), (0, 1)))
    model = AlbertEncoder(config).eval()
    save_model(
        tmp_path / "a", model=model, config=config, files=FILES, task={}, dtype=torch.float32
    )
    convert(tmp_path / "a", tmp_path / "b", to="huggingface")
    found = load_config(tmp_path / "b")[0]
    assert (found.sharing, found.plan) == ("none", ())
    other = AlbertEncoder(found).eval()
    load_weights(other, tmp_path / "b")
    ids = torch.tensor([[1, 2, 3]])
    with torch.inference_mode():
        pair = [one(ids, ids * 0, ids > 0).hidden for one in (model, other)]
    assert torch.equal(*pair)
    convert(tmp_path / "a", tmp_path / "c", to="google")


@pytest.mark.parametrize("to", ["huggingface", "google"])
def test_pruned_blocks_are_refused_where_they_cannot_be_said(to: Any, tmp_path: Path) -> None:
    config = replace(CONFIG, block_heads=(1,), head_size=4)
    save_model(tmp_path / "a", model=AlbertEncoder(config), config=config, files={}, task={})
    with pytest.raises(CheckpointError, match="no heads or neurons by block"):
        convert(tmp_path / "a", tmp_path / "b", to=to)


@pytest.mark.parametrize("to", ["huggingface", "google"])
def test_lstms_are_refused_where_they_cannot_be_said(to: Any, tmp_path: Path) -> None:
    config = replace(CONFIG, layer="lstm")
    save_model(tmp_path / "a", model=build_encoder(config), config=config, files={}, task={})
    with pytest.raises(CheckpointError, match="no LSTM layers"):
        convert(tmp_path / "a", tmp_path / "b", to=to)
    convert(tmp_path / "a", tmp_path / "c", to="zh_albert")
    assert load_config(tmp_path / "c")[0] == config


def test_numbers_of_several_kinds_lose_nothing(tmp_path: Path) -> None:
    save_model(
        tmp_path / "a", model=AlbertEncoder(CONFIG), config=CONFIG, files=FILES, task={},
        dtype=torch.float32,
    )  # fmt: skip
    path = tmp_path / "a" / "model.safetensors"
    tensors = safetensors.torch.load_file(path)
    first = next(iter(tensors))
    safetensors.torch.save_file({**tensors, first: tensors[first].half()}, path)
    (tmp_path / "a" / "manifest.json").unlink()  # as of another program
    convert(tmp_path / "a", tmp_path / "b", to="zh_albert")
    found = read_tensors(tmp_path / "b")
    assert {tensor.dtype for tensor in found.values()} == {torch.float32}
    assert all(torch.equal(found[name], tensors[name]) for name in tensors if name != first)


def test_a_folder_is_not_converted_onto_itself(tmp_path: Path) -> None:
    save_model(tmp_path / "a", model=AlbertEncoder(CONFIG), config=CONFIG, files={}, task={})
    with pytest.raises(CheckpointError, match="give another folder"):
        convert(tmp_path / "a", tmp_path / "a", to="zh_albert")


def test_what_transformers_cannot_compute_is_refused(tmp_path: Path) -> None:
    task = {**CLASSIFIER_TASK, "pooling": "mean"}
    model = SequenceClassifier(CONFIG, 2, pooling="mean")
    save_model(tmp_path / "a", model=model, config=CONFIG, files={}, task=task)
    with pytest.raises(CheckpointError, match="pooling"):
        convert(tmp_path / "a", tmp_path / "b", to="huggingface", network_of=network_of)
    assert not (tmp_path / "b").exists()


def test_what_no_layer_reads_is_left_out_and_said(tmp_path: Path) -> None:
    save_model(tmp_path / "a", model=AlbertEncoder(CONFIG), config=CONFIG, files=FILES, task={})
    (tmp_path / "a/manifest.json").unlink()
    constant = {"albert.embeddings.position_ids": torch.arange(512)}
    tensors = safetensors.torch.load_file(tmp_path / "a/model.safetensors") | constant
    safetensors.torch.save_file(tensors, tmp_path / "a/model.safetensors")

    done = convert(tmp_path / "a", tmp_path / "b", to="zh_albert")

    assert done.notes == ["left out, because no layer reads them: albert.embeddings.position_ids"]


def test_a_note_does_not_grow_without_end() -> None:
    assert listed([f"name {number}" for number in range(2000)]).endswith(", name 7 and 1,992 more")
    assert len(listed(["x" * 5000])) == 80
