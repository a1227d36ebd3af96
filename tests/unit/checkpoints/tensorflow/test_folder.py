"""Folders of google-research/albert: what is looked for, what is refused, and how."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.helpers.conversions import (
    CONFIG,
    KERNEL,
    VOCABULARY,
    change_config,
    change_tensors,
    google_folder,
    refusal,
)
from zh_albert.checkpoints.convert import convert, read_any
from zh_albert.checkpoints.store import save_model
from zh_albert.checkpoints.tensorflow.bundle import write_bundle
from zh_albert.errors import CheckpointError
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.heads import SequenceClassifier
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.tasks.catalog import network_of


@pytest.fixture
def google(tmp_path: Path) -> Path:
    return google_folder(tmp_path / "google")


@pytest.mark.parametrize(
    "name", [".", "model.ckpt", "model.ckpt.index", "model.ckpt.data-00000-of-00001"]
)
def test_a_checkpoint_is_found_by_any_of_its_names(name: str, google: Path) -> None:
    convert(str(google / name), google.parent / "ours", to="zh_albert")

    files = {path.name: path.read_bytes() for path in (google.parent / "ours").iterdir()}
    assert files["vocab.txt"] == VOCABULARY
    assert files["README.md"] == b"card"


def test_of_several_checkpoints_one_must_be_given(google: Path) -> None:
    for path in list(google.glob("model.ckpt.*")):
        shutil.copy(path, google / path.name.replace("model", "other"))
    (google / "checkpoint").unlink()

    assert "expected one checkpoint, found model.ckpt, other.ckpt; give one" in refusal(google)
    convert(str(google / "other.ckpt"), google.parent / "ours", to="zh_albert")


def test_tables_take_their_sizes_from_the_tensors(google: Path) -> None:
    change_config(google, vocab_size=99, embedding_size=None, max_position_embeddings=None)

    assert read_any(google).config == CONFIG


def test_without_a_configuration_heads_are_not_guessed(google: Path) -> None:
    (google / "albert_config.json").unlink()

    message = refusal(google)

    assert f"{google / 'model.ckpt'}: no configuration beside it" in message
    assert "it must give num_attention_heads, num_hidden_layers, hidden_act" in message


def test_of_several_configurations_one_must_be_kept(google: Path) -> None:
    shutil.copy(google / "albert_config.json", google / "bert_config.json")

    assert "expected one of albert_config.json, bert_config.json, found all" in refusal(google)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"num_attention_heads": None, "hidden_act": None},
            "lacks num_attention_heads, hidden_act",
        ),
        ({"hidden_act": "swish"}, "unknown hidden_act 'swish'; known: gelu, gelu_"),
        ({"hidden_act": ["gelu"]}, "unknown hidden_act"),
        ({"inner_group_num": 2}, "inner_group_num must be 1, found 2"),
        ({"net_structure_type": 1}, "net_structure_type must be 0, found 1"),
        ({"num_hidden_layers": "many"}, "num_hidden_layers: expected a valid integer"),
        ({"num_attention_heads": 3}, r"hidden_size (8) must be a multiple"),
        ({"hidden_size": 10}, "the weights do not fit the model"),
        ({"num_hidden_groups": 2}, "missing bert/encoder/transformer/group_1/inner_group_0"),
    ],
)
def test_settings_that_cannot_work_are_told(
    changes: dict[str, Any], message: str, google: Path
) -> None:
    change_config(google, **changes)

    assert message in refusal(google)


@pytest.mark.parametrize("name", ["gelu", "gelu_new", "gelu_pytorch_tanh", "gelu_fast"])
def test_the_tanh_form_has_several_names(name: str, google: Path) -> None:
    change_config(google, hidden_act=name)

    assert read_any(google).config.hidden_act == "gelu_new"


@pytest.mark.parametrize("content", ["{", "[]"])
def test_a_broken_configuration_is_told(content: str, google: Path) -> None:
    (google / "albert_config.json").write_text(content, encoding="utf-8")

    assert "albert_config.json: " in refusal(google)


def test_all_that_does_not_fit_is_listed_by_the_names_there(google: Path) -> None:
    changes = {
        KERNEL: None,
        "cls/predictions/output_bias": torch.zeros(3),
        "bert/extra": torch.zeros(1, 2),
    }
    change_tensors(google, changes)

    message = refusal(google)

    assert "the weights do not fit the model (3)" in message
    assert f"missing {KERNEL} (8, 8)" in message
    assert "cls/predictions/output_bias: expected shape (14,), found (3,)" in message
    assert "left over bert/extra (1, 2)" in message


def test_task_and_labels_are_not_for_other_sources(tmp_path: Path) -> None:
    save_model(tmp_path / "a", model=AlbertEncoder(CONFIG), config=CONFIG, files={}, task={})

    with pytest.raises(CheckpointError, match="task and labels are those of TensorFlow"):
        convert(tmp_path / "a", tmp_path / "b", to="zh_albert", labels=["a"])


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["bert/encoder/layer_0/output/dense/bias", "bert/x"], " but one of BERT"),
        (["model/wte", "model/wpe"], ""),
        (["encoder/x/.ATTRIBUTES/VARIABLE_VALUE"], " but one of objects (Keras, TensorFlow 2)"),
        ([], ""),
    ],
)
def test_another_model_is_refused(names: list[str], kind: str, google: Path) -> None:
    for name, content in write_bundle("model.ckpt", {n: torch.zeros(2) for n in names}).items():
        (google / name).write_bytes(content)

    assert f"not an ALBERT checkpoint{kind}" in refusal(google)


def test_files_that_are_missing_or_cut_off_are_told(google: Path) -> None:
    numbers = google / "model.ckpt.data-00000-of-00001"
    numbers.write_bytes(numbers.read_bytes()[:-4])
    assert "truncated: expected" in refusal(google)
    numbers.unlink()
    assert "data-00000-of-00001: no such file" in refusal(google)
    shutil.rmtree(google)
    assert "model.ckpt.index: No such file or directory" in refusal(google / "model.ckpt")


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"hidden_act": "gelu"}, "no hidden_act 'gelu'"),
        ({"layer_norm_eps": 1e-6}, "no layer_norm_eps 1e-06"),
        ({"norm_position": "pre"}, "no norm_position 'pre' with embedding_layout 'google'"),
        ({"embedding_size": 8}, "no projection between equal sizes"),
        (
            {"embedding_layout": "brightmart", "num_hidden_groups": 3},
            "no groups of layers with embedding_layout 'brightmart'",
        ),
    ],
)
def test_what_their_code_cannot_compute_is_not_written(
    changes: dict[str, Any], found: str, tmp_path: Path
) -> None:
    config = replace(CONFIG, **changes)
    save_model(tmp_path / "a", model=AlbertEncoder(config), config=config, files={}, task={})
    with pytest.raises(CheckpointError) as caught:
        convert(tmp_path / "a", tmp_path / "b", to="google")
    assert found in str(caught.value)
    assert not (tmp_path / "b").exists()


def test_a_classifier_has_no_google_layout(tmp_path: Path) -> None:
    task = {"name": "classification", "labels": ["a", "b"], "pooling": "first"}
    model = SequenceClassifier(CONFIG, 2)
    save_model(tmp_path / "a", model=model, config=CONFIG, files={}, task=task)
    with pytest.raises(CheckpointError, match="no task heads"):
        convert(tmp_path / "a", tmp_path / "b", to="google", network_of=network_of)


@pytest.mark.parametrize(
    ("changes", "same_config"),
    [
        ({}, True),
        ({"num_hidden_groups": 2, "hidden_act": "relu", "hidden_dropout_prob": 0.1}, True),
        ({"sharing": "none"}, True),
        ({"sharing": "ffn"}, False),  # written as copies
        ({"embedding_layout": "brightmart", "sharing": "ffn"}, True),
        ({"embedding_layout": "brightmart", "norm_position": "pre"}, True),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_ours_to_google_and_back_changes_nothing(
    changes: dict[str, Any], same_config: bool, dtype: torch.dtype, tmp_path: Path
) -> None:
    config = replace(CONFIG, **changes)
    model = AlbertForPretraining(config)
    files = {"vocab.txt": VOCABULARY, "tokenizer_config.json": b"{}", "README.md": b"card"}
    save_model(tmp_path / "a", model=model, config=config, files=files, task={}, dtype=dtype)
    convert(tmp_path / "a", tmp_path / "b", to="google")
    convert(tmp_path / "b", tmp_path / "c", to="zh_albert")

    assert (read_any(tmp_path / "c").config == config) == same_config
    before, after = read_any(tmp_path / "a"), read_any(tmp_path / "c")
    assert before.files == after.files
    if same_config:
        assert before.tensors.keys() == after.tensors.keys()
        assert all(torch.equal(t.float(), after.tensors[n]) for n, t in before.tensors.items())
