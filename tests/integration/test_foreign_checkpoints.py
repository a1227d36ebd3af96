"""``zh-albert convert`` of other projects' checkpoints, from the command to the answer."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import numpy_albert
from tests.helpers.commands import Cli
from tests.helpers.numpy_albert import Layout
from tests.helpers.published import write_published


@pytest.fixture
def classifier(tmp_path: Path) -> Path:
    """A checkpoint of ``run_classifier.py``, with the state of its training."""
    tensors = numpy_albert.fine_tuned(numpy_albert.random_tensors(Layout()), "", 2)
    slots = {f"{name}/adam_m": np.zeros_like(tensor) for name, tensor in tensors.items()}
    return write_published(tmp_path / "output", Layout(), {**tensors, **slots})


def test_a_classifier_with_its_labels_predicts(cli: Cli, classifier: Path, tmp_path: Path) -> None:
    out, texts = tmp_path / "out", tmp_path / "texts.tsv"
    ran = cli("convert", classifier, out, "--task", "pair", "--labels", "不同, 相同")
    texts.write_text("房间很\t干净\n", encoding="utf-8")
    answer = json.loads(cli("predict", out, texts).out)

    assert (ran.code, ran.out.strip()) == (0, str(out))
    assert ran.err.startswith("note: left out as state of the training: 27 × …/adam_m")
    assert answer["scores"].keys() == {"不同", "相同"}


def test_what_was_left_out_is_in_the_json(cli: Cli, classifier: Path, tmp_path: Path) -> None:
    ran = cli("convert", classifier, tmp_path / "out", "--task", "encoder", "--json")

    first, second = json.loads(ran.out)["notes"]
    assert first.startswith("left out as state of the training")
    assert second.endswith("a model for encoder: output_bias, output_weights")


def test_without_labels_one_line_says_what_to_give(
    cli: Cli, classifier: Path, tmp_path: Path
) -> None:
    ran = cli("convert", classifier, tmp_path / "out")

    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert "expected 2 labels, one for each row of output_weights" in ran.err
    assert not (tmp_path / "out").exists()


def test_a_folder_beside_us_does_not_hide_a_bundled_model(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ner").mkdir()
    with pytest.warns(UserWarning, match="ner: the bundled model is taken"):
        ran = cli("inspect", "ner", "--json")

    assert json.loads(ran.out)["task"]["name"] == "ner"
    assert cli("inspect", "./ner").code == 2
