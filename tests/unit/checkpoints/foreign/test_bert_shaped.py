"""Reading encoders of the shape of BERT: what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.helpers.bert_folders import bert_folder
from zh_albert.checkpoints.foreign.bert_shaped import read_bert_shaped
from zh_albert.errors import CheckpointError


def test_tensors_missing_and_left_over_are_all_named(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = bert_folder(tmp_path)
    tensors = load_file(folder / "model.safetensors")
    del tensors["encoder.layer.0.output.dense.bias"]
    tensors["encoder.layer.7.output.dense.bias"] = torch.zeros(3)
    tensors["adapter"] = torch.zeros(3)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(CheckpointError) as caught:
        read_bert_shaped(folder)
    for name in ("ffn.0.down.bias", "encoder.layer.7.output.dense.bias", "adapter"):
        assert name in str(caught.value)


def test_tensors_of_other_sizes_than_told_are_all_named(tmp_path: Path) -> None:
    folder = bert_folder(tmp_path)
    content = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(
        json.dumps({**content, "intermediate_size": 12, "max_position_embeddings": 9})
    )
    with pytest.raises(CheckpointError, match="the weights do not fit") as caught:
        read_bert_shaped(folder)
    for part in (
        "embeddings.position_embeddings.weight: expected shape (9, 8), found (8, 8)",
        "encoder.layer.0.intermediate.dense.bias",
    ):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("change", "problem"),
    [({"hidden_size": "8"}, "that can be used"), ({"is_decoder": True}, "found a decoder")],
)
def test_settings_that_no_teacher_has_are_one_line(
    tmp_path: Path, change: dict[str, Any], problem: str
) -> None:
    folder = bert_folder(tmp_path)
    content = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**content, **change}))
    with pytest.raises(CheckpointError, match=problem):
        read_bert_shaped(folder)


def test_positions_that_are_not_learned_are_refused(tmp_path: Path) -> None:
    folder = bert_folder(tmp_path)
    content = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(
        json.dumps({**content, "position_embedding_type": "relative_key"})
    )
    with pytest.raises(CheckpointError, match="expected learned absolute positions"):
        read_bert_shaped(folder)


def test_a_pickle_with_the_first_names_is_the_same_teacher(tmp_path: Path) -> None:
    from safetensors.torch import load_file

    folder = bert_folder(tmp_path)
    expected = read_bert_shaped(folder)
    path = folder / "model.safetensors"
    tensors = load_file(path)
    for name in [name for name in tensors if "LayerNorm" in name]:
        first = name.replace("weight", "gamma").replace("bias", "beta")
        tensors[first] = tensors.pop(name)
    torch.save({f"bert.{name}": tensor for name, tensor in tensors.items()}, tmp_path / "m.bin")
    path.unlink()
    (tmp_path / "m.bin").rename(folder / "pytorch_model.bin")
    found = read_bert_shaped(folder)
    assert found.tensors.keys() == expected.tensors.keys()
    assert all(torch.equal(found.tensors[n], tensor) for n, tensor in expected.tensors.items())


def test_an_activation_by_another_name_is_computed(tmp_path: Path) -> None:
    folder = bert_folder(tmp_path)
    content = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**content, "hidden_act": "gelu_pytorch_tanh"}))
    assert read_bert_shaped(folder).config.hidden_act == "gelu_new"


def test_a_vocabulary_with_more_rows_than_the_model_is_refused(tmp_path: Path) -> None:
    folder = bert_folder(tmp_path)
    with (folder / "vocab.txt").open("a", encoding="utf-8") as file:
        file.write("多\n")
    with pytest.raises(CheckpointError, match="the vocabulary has 10 rows, the model 9"):
        read_bert_shaped(folder)
