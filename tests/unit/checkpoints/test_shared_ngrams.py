"""A small bundled model that has its n-grams from a larger one."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.micro import save_micro_encoder
from zh_albert import load
from zh_albert.checkpoints import resolve
from zh_albert.checkpoints.convert import convert
from zh_albert.checkpoints.files import NGRAMS
from zh_albert.checkpoints.folder import replace_folder
from zh_albert.compression.measures import around_weights, without_ngrams
from zh_albert.errors import CheckpointError
from zh_albert.inference.export import export
from zh_albert.tasks.catalog import network_of
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.examples import TextExample
from zh_albert.tasks.classification.finetune import FinetuneConfig, ModelConfig, finetune
from zh_albert.tasks.windows import WindowConfig
from zh_albert.training.config import TrainConfig

TEXTS = ["房间很好", "早餐太差", "服务很好", "位置太差"]


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of bundled models, of which ``small`` has its n-grams from ``large``."""
    folder = tmp_path_factory.mktemp("bundled")
    encoder = save_micro_encoder(folder / "encoder")
    examples = [TextExample(text, "good" if "好" in text else "bad") for text in TEXTS] * 4
    config = FinetuneConfig(
        model=ModelConfig(ngrams=True),
        window=WindowConfig(max_length=16, stride=4),
        train=TrainConfig(epochs=1, peak_lr=1e-3, batch_tokens=256),
    )
    finetune(examples, examples, config, init=encoder, out=folder / "large")
    shutil.rmtree(folder / "large" / "training")
    shutil.copytree(folder / "large", folder / "small")
    digest = hashlib.sha256((folder / "small" / NGRAMS).read_bytes()).hexdigest()
    (folder / "small" / NGRAMS).unlink()
    changed(folder / "small", of="large", sha256=digest)
    return folder


@pytest.fixture(autouse=True)
def _as_bundled(bundled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolve, "BUNDLED", bundled)


def changed(folder: Path, **ngrams: Any) -> None:
    """Change the settings of a folder's n-grams."""
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    config = json.loads(files["config.json"])
    config["zh_albert"]["task"]["ngrams"] |= ngrams
    replace_folder(folder, {**files, "config.json": json.dumps(config)})


def scores(folder: Path) -> Any:
    return TextClassifier.load(folder).scores(TEXTS)


def test_it_answers_with_them(bundled: Path) -> None:
    assert not (bundled / "small" / NGRAMS).exists()
    np.testing.assert_array_equal(scores(bundled / "small"), scores(bundled / "large"))
    assert [answer.label for answer in load("small")(TEXTS)] == ["good", "bad"] * 2


@pytest.mark.slow
def test_what_is_written_from_it_has_them_itself(bundled: Path, tmp_path: Path) -> None:
    source = bundled / "small"
    TextClassifier.load(source).save(tmp_path / "saved", card="")
    convert(source, tmp_path / "converted", to="zh_albert", network_of=network_of)
    export(source, tmp_path / "exported", form="onnx")
    for name in ("saved", "converted", "exported"):
        task = json.loads((tmp_path / name / "config.json").read_text())["zh_albert"]["task"]
        assert task["ngrams"].keys() == {"weight", "scale"}, name
        assert (tmp_path / name / NGRAMS).is_file(), name
        np.testing.assert_allclose(scores(tmp_path / name), scores(source), atol=1e-3)


def test_compression_counts_them_and_takes_them_away(bundled: Path, tmp_path: Path) -> None:
    source, size = bundled / "small", (bundled / "large" / NGRAMS).stat().st_size
    alone = without_ngrams(source, tmp_path / "alone")

    assert abs(around_weights(source) - around_weights(alone) - size) < 1_000  # of its settings
    assert TextClassifier.load(alone).ngrams is None


def test_other_n_grams_than_its_own_are_refused(bundled: Path, tmp_path: Path) -> None:
    shutil.copytree(bundled / "small", tmp_path / "small")
    changed(tmp_path / "small", sha256="0" * 64)
    with pytest.raises(CheckpointError, match=r"small: expected n-grams of the .*'large' with the"):
        TextClassifier.load(tmp_path / "small")


def test_a_bundled_model_that_is_not_there_is_named(bundled: Path, tmp_path: Path) -> None:
    shutil.copytree(bundled / "small", tmp_path / "small")
    changed(tmp_path / "small", of="larger")
    with pytest.raises(CheckpointError, match=r"bundled model 'larger', which this version"):
        TextClassifier.load(tmp_path / "small")


@pytest.mark.parametrize("wrong", [{"of": 3}, {"weight": "large"}, {"sha256": None}])
def test_settings_of_another_kind_are_refused(
    bundled: Path, tmp_path: Path, wrong: dict[str, Any]
) -> None:
    shutil.copytree(bundled / "small", tmp_path / "small")
    changed(tmp_path / "small", **wrong)
    with pytest.raises(CheckpointError, match=r"ngrams: expected numbers by name"):
        TextClassifier.load(tmp_path / "small")
