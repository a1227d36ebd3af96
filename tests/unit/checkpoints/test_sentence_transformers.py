"""Folders of ``sentence-transformers``; ``make interop`` opens them in the package itself."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.helpers.micro import save_micro_models
from zh_albert import load
from zh_albert.checkpoints.convert import convert
from zh_albert.checkpoints.store import load_config
from zh_albert.errors import CheckpointError
from zh_albert.inference.export import export
from zh_albert.tasks.catalog import network_of

TEXTS = ["房间很干净，下次还来。", "好", "一" * 100]
NEW_POOLING = {"embedding_dimension": 32, "pooling_mode": "mean", "include_prompt": True}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return save_micro_models(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def written(models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written") / "vectors"
    convert(models["embedder"], folder, to="sentence-transformers", network_of=network_of)
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "vectors"))


def edit(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def forget_ours(folder: Path) -> None:
    """Make it a folder that began in the other package."""
    content = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    del content["zh_albert"]
    edit(folder / "config.json", content)
    (folder / "manifest.json").unlink()


def test_what_is_written_opens_here_with_the_same_vectors(
    models: dict[str, Path], written: Path
) -> None:
    expected = np.asarray(load(models["embedder"])(TEXTS))
    assert np.array_equal(np.asarray(load(written)(TEXTS)), expected)
    modules = json.loads((written / "modules.json").read_text(encoding="utf-8"))
    assert [one["path"] for one in modules] == ["", "1_Pooling"]
    limits = json.loads((written / "sentence_bert_config.json").read_text(encoding="utf-8"))
    assert limits["max_seq_length"] == 32
    assert (written / "1_Pooling/config.json").is_file()


@pytest.mark.parametrize("pooling", [None, NEW_POOLING], ids=["old", "new"])
def test_a_folder_that_began_there_is_a_model_of_vectors(
    pooling: dict[str, Any] | None, models: dict[str, Path], folder: Path, tmp_path: Path
) -> None:
    forget_ours(folder)
    if pooling:
        edit(folder / "1_Pooling/config.json", pooling)
        (folder / "sentence_bert_config.json").write_text("{}", encoding="utf-8")
        settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
        edit(folder / "tokenizer_config.json", {**settings, "model_max_length": 32})
    assert load_config(folder)[1] == {"name": "embedding", "max_length": 32, "stride": 8}
    expected = np.asarray(load(models["embedder"])(TEXTS))
    assert np.array_equal(np.asarray(load(folder)(TEXTS)), expected)
    convert(folder, tmp_path / "ours", to="zh_albert", network_of=network_of)
    assert np.array_equal(np.asarray(load(tmp_path / "ours")(TEXTS)), expected)


def test_an_endless_length_is_that_of_the_encoder(folder: Path) -> None:
    forget_ours(folder)
    edit(folder / "sentence_bert_config.json", {"max_seq_length": 10**30})
    assert load_config(folder)[1]["max_length"] == 512


PACKAGE = "sentence_transformers.models"
TRANSFORMER = {"path": "", "type": f"{PACKAGE}.Transformer"}
POOLING = {"path": "1_Pooling", "type": f"{PACKAGE}.Pooling"}


@pytest.mark.parametrize("began_there", [True, False])
@pytest.mark.parametrize(
    ("file", "content", "problem"),
    [
        ("1_Pooling/config.json", {"pooling_mode": "cls"}, "the mean over the tokens, found cls"),
        (
            "1_Pooling/config.json",
            {"pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True},
            "found pooling_mode_mean_tokens, pooling_mode_max_tokens",
        ),
        (
            "modules.json",
            [TRANSFORMER, POOLING, {"path": "2_Dense", "type": f"{PACKAGE}.Dense"}],
            "expected the modules Transformer and Pooling, found Transformer, Pooling, Dense",
        ),
        ("modules.json", [TRANSFORMER], "found Transformer"),
        ("modules.json", {"a": 1}, "expected a list of modules"),
        (
            "modules.json",
            [{**TRANSFORMER, "path": "0_Transformer"}, POOLING],
            "expected the Transformer in the folder itself",
        ),
        ("modules.json", [TRANSFORMER, {**POOLING, "path": "../x"}], "folder itself"),
        (
            "config_sentence_transformers.json",
            {"default_prompt_name": "query"},
            "expected no default_prompt_name, found query",
        ),
        ("sentence_bert_config.json", [], "expected a JSON object"),
    ],
)
def test_other_vectors_are_refused(
    began_there: bool, file: str, content: Any, problem: str, folder: Path
) -> None:
    forget_ours(folder) if began_there else (folder / "manifest.json").unlink()
    edit(folder / file, content)
    with pytest.raises(CheckpointError, match=problem) as caught:
        load(folder)
    assert "\n" not in str(caught.value)


def test_scaled_vectors_are_told(folder: Path) -> None:
    forget_ours(folder)
    scaled = {"path": "2_Normalize", "type": f"{PACKAGE}.Normalize"}
    edit(folder / "modules.json", [TRANSFORMER, POOLING, scaled])
    with pytest.warns(UserWarning, match="vectors have length 1; here if normalize=True is given"):
        assert load(folder).task == "embedding"


@pytest.mark.parametrize(("name", "found"), [("classifier", "classification"), ("encoder", "enc")])
def test_only_models_of_vectors_are_written(
    name: str, found: str, models: dict[str, Path], tmp_path: Path
) -> None:
    problem = f"{name}: expected a model of sentence vectors, found one for {found}"
    with pytest.raises(CheckpointError, match=problem):
        convert(models[name], tmp_path / "x", to="sentence-transformers", network_of=network_of)
    assert not (tmp_path / "x").exists()


def test_weights_in_8_bits_are_not_written(models: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="int8 weights"):
        convert(
            models["embedder"],
            tmp_path / "x",
            to="sentence-transformers",
            dtype=torch.int8,
            network_of=network_of,
        )


def test_an_export_into_the_folder_itself_leaves_it_one_of_vectors(folder: Path) -> None:
    before = (folder / "modules.json").read_bytes()
    export(folder, folder, form="onnx")
    assert (folder / "modules.json").read_bytes() == before
    assert np.asarray(load(folder)(TEXTS)).shape == (len(TEXTS), 32)


def test_a_missing_pooling_is_told(folder: Path) -> None:
    (folder / "1_Pooling/config.json").unlink()
    with pytest.raises(CheckpointError, match=r"1_Pooling/config\.json: expected .* found none"):
        load_config(folder)
