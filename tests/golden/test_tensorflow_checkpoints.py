"""Checkpoints of TensorFlow's ALBERT: stored ones that it wrote, and new ones where it is there.

What the tensors mean is checked against ``numpy_albert``, written from the published code.
``TENSORFLOW_PYTHON`` may name the interpreter of another environment, one with TensorFlow.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch
import transformers

from tests.helpers import numpy_albert
from tests.helpers.numpy_albert import IDS, MASK, TYPES, WORDS, Array, Layout
from tests.helpers.published import complete, write_published
from zh_albert.checkpoints.convert import convert, read_any
from zh_albert.checkpoints.store import load_config, load_weights
from zh_albert.checkpoints.stored_model import build_model
from zh_albert.checkpoints.tensorflow.bundle import Bundle, write_bundle
from zh_albert.errors import CheckpointError
from zh_albert.inference.loading import load
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.tasks.catalog import network_of

STORED = Path(__file__).parent / "tensorflow"
LAYOUTS = {
    "google": Layout(),
    "attention by heads": Layout(by_heads=True),
    "two groups": Layout(groups=2),
    "no sharing": Layout(groups=4),
    "tiny_google_fast": Layout(groups=12, ffn_groups=4),
    "brightmart": Layout(code="brightmart"),
    "brightmart, attention shared": Layout(code="brightmart", shared="attention"),
    "brightmart, no sharing": Layout(code="brightmart", shared="none"),
    "xxlarge": Layout(code="brightmart", pre_norm=True),
    "pre-norm, ffn shared": Layout(code="brightmart", shared="ffn", pre_norm=True),
}
NUMBERS = torch.arange(6.0).reshape(2, 3)
PYTHON = os.environ.get("TENSORFLOW_PYTHON") or sys.executable
needs_tensorflow = pytest.mark.skipif(
    sys.executable == PYTHON and find_spec("tensorflow") is None,
    reason="needs TensorFlow: set TENSORFLOW_PYTHON to a Python that has it",
)


def tensorflow(*arguments: str | Path) -> None:
    """Run TensorFlow in its own process: its LLVM and PyTorch's do not agree in one."""
    script = Path(__file__).with_name("tensorflow_process.py")
    subprocess.run(
        [PYTHON, script, *arguments],
        check=True,
        capture_output=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
    )


def assert_says(folder: Path, expected: numpy_albert.Outputs, tolerance: float) -> None:
    """Compare what the model of a folder of ours says, in float64."""
    config, _ = load_config(folder)
    model = AlbertForPretraining(config).double().eval()
    load_weights(model, folder)
    ids, types, mask = map(torch.from_numpy, (IDS, TYPES, MASK))
    with torch.no_grad():
        hidden = model.encoder(ids, types, mask).hidden
        logits = model(ids, types, mask, torch.nonzero(mask))
    close = {"rtol": 0, "atol": tolerance}
    np.testing.assert_allclose(hidden[mask], np.array(expected.hidden)[MASK], **close)
    np.testing.assert_allclose(logits.masked, np.array(expected.masked)[MASK], **close)
    np.testing.assert_allclose(logits.order, np.array(expected.order), **close)


@pytest.mark.parametrize("name", ["google", "brightmart"])
def test_a_checkpoint_that_tensorflow_wrote_means_what_its_code_says(
    name: str, tmp_path: Path
) -> None:
    convert(STORED / name, tmp_path / "ours", to="zh_albert")
    expected = json.loads((STORED / name / "expected.json").read_text(encoding="utf-8"))

    assert_says(tmp_path / "ours", numpy_albert.Outputs(**expected), 1e-5)
    vocabulary = (tmp_path / "ours/vocab.txt").read_text(encoding="utf-8")
    assert vocabulary.splitlines() == numpy_albert.WORDS


def test_every_float_is_read_and_everything_else_left_out() -> None:
    bundle = Bundle(STORED / "dtypes/model.ckpt")
    found = {name: bundle.tensor(name) for name in bundle.names}

    assert {name: str(tensor.dtype) for name, tensor in found.items()} == {
        name: f"torch.{name}" for name in ("bfloat16", "float16", "float32", "float64")
    }
    assert all(torch.equal(tensor.float(), NUMBERS) for tensor in found.values())


def test_numbers_in_several_files_are_read() -> None:
    bundle = Bundle(STORED / "several_files/model.ckpt")

    assert len([*(STORED / "several_files").glob("*.data-*")]) > 1
    assert torch.equal(bundle.tensor("a"), NUMBERS + 1)
    assert torch.equal(bundle.tensor("bb"), NUMBERS + 2)


@pytest.mark.parametrize(
    ("stored", "given"),
    [
        ("model.ckpt", ""),
        ("model.ckpt", "model.ckpt"),
        ("model.ckpt-00000-of-00001", "model.ckpt"),
        ("model-1000", "model-1000"),
    ],
)
def test_a_checkpoint_of_version_1_is_named_as_such(
    stored: str, given: str, tmp_path: Path
) -> None:
    (tmp_path / "theirs").mkdir()
    shutil.copy(STORED / "version_1/model.ckpt", tmp_path / "theirs" / stored)
    with pytest.raises(CheckpointError, match=rf"{stored}: a checkpoint of .* version 1 \(a sin"):
        convert(str(tmp_path / "theirs" / given), tmp_path / "ours", to="zh_albert")


def softmax(logits: Array) -> Array:
    weights: Array = np.exp(logits - logits.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


@pytest.mark.parametrize("layout", [Layout(), Layout(code="brightmart")])
def test_a_converted_folder_fills_masks_as_the_code_does(layout: Layout, tmp_path: Path) -> None:
    tensors = numpy_albert.random_tensors(layout)
    source = write_published(tmp_path / "source", layout, tensors)
    convert(source, tmp_path / "ours", to="zh_albert")
    [[spot]] = load(tmp_path / "ours")(["房间很[MASK]净"], top_k=len(WORDS))

    ids = np.array([[2, 5, 6, 7, 4, 9, 3]])
    masked = numpy_albert.outputs(layout, tensors, ids, np.zeros_like(ids)).masked
    expected = {w: p for w, p in zip(WORDS, softmax(masked[0, 4]), strict=True) if len(w) == 1}
    assert {c.text: c.score for c in spot.candidates} == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("layout", [Layout(), Layout(code="brightmart", pre_norm=True)])
def test_a_classifier_of_theirs_answers_as_its_code_does(layout: Layout, tmp_path: Path) -> None:
    pretrained = numpy_albert.random_tensors(layout)
    tensors = numpy_albert.fine_tuned(pretrained, "", 3)
    source = write_published(tmp_path / "source", layout, tensors)
    labels = ["体育", "财经", "b"]
    convert(
        source, tmp_path / "pair", to="zh_albert", network_of=network_of, task="pair", labels=labels
    )
    convert(source, tmp_path / "text", to="zh_albert", network_of=network_of, labels=labels)

    expected = softmax(numpy_albert.class_logits(layout, tensors))  # of IDS, which are these:
    [pair] = load(tmp_path / "pair")([("房间很", "干净")])
    [text] = load(tmp_path / "text")([",服"])
    assert pair.scores == pytest.approx(dict(zip(labels, expected[0], strict=True)), abs=1e-4)
    assert text.scores == pytest.approx(dict(zip(labels, expected[1], strict=True)), abs=1e-4)


def test_a_value_on_a_scale_is_the_output_itself(tmp_path: Path) -> None:
    tensors = numpy_albert.fine_tuned(numpy_albert.random_tensors(Layout()), "", 1)
    source = write_published(tmp_path / "source", Layout(), tensors)
    convert(source, tmp_path / "a", to="zh_albert", network_of=network_of, task="pair")

    [value] = load(tmp_path / "a")([("房间很", "干净")])
    expected = numpy_albert.class_logits(Layout(), tensors)[0, 0]
    assert value.value == pytest.approx(expected, abs=1e-4)


def test_a_reader_of_squad_1_answers_as_its_code_does(tmp_path: Path) -> None:
    tensors = numpy_albert.fine_tuned(numpy_albert.random_tensors(Layout()), "cls/squad/", 2)
    source = write_published(tmp_path / "source", Layout(), tensors)
    convert(source, tmp_path / "ours", to="huggingface", network_of=network_of)
    original = transformers.AlbertForQuestionAnswering.from_pretrained(tmp_path / "ours").eval()
    ids, types, mask = map(torch.from_numpy, (IDS, TYPES, MASK))
    with torch.no_grad():
        said = original(ids, attention_mask=mask.long(), token_type_ids=types)

    expected = numpy_albert.border_logits(Layout(), tensors)
    np.testing.assert_allclose(said.start_logits[mask], expected[..., 0][MASK], atol=1e-4)
    np.testing.assert_allclose(said.end_logits[mask], expected[..., 1][MASK], atol=1e-4)
    _, task = load_config(tmp_path / "ours")
    assert task == {"name": "reading", "threshold": None}


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_means_what_its_code_says_and_comes_back(name: str, tmp_path: Path) -> None:
    layout = LAYOUTS[name]
    tensors = numpy_albert.random_tensors(layout)
    source = write_published(tmp_path / "source", layout, tensors)

    convert(source, tmp_path / "ours", to="zh_albert")
    convert(tmp_path / "ours", tmp_path / "google", to="google")
    convert(tmp_path / "google", tmp_path / "back", to="zh_albert")

    assert_says(tmp_path / "ours", numpy_albert.outputs(layout, tensors), 1e-12)
    ours, back = (
        safetensors.torch.load_file(tmp_path / folder / "model.safetensors")
        for folder in ("ours", "back")
    )
    assert ours.keys() == back.keys()
    assert all(torch.equal(tensor, back[name]) for name, tensor in ours.items())
    config, _ = load_config(tmp_path / "ours")
    assert config.embedding_layout == layout.code
    assert config.norm_position == ("pre" if layout.pre_norm else "post")
    if layout.groups <= 2:  # more are as many as layers: no sharing, by its other name
        assert load_config(tmp_path / "back")[0] == config
    if layout.groups <= 4 and not layout.by_heads:  # all the file's groups are run
        bundle = Bundle(tmp_path / "google/model.ckpt")
        assert bundle.names == sorted(tensors)
        for tensor_name, tensor in tensors.items():
            np.testing.assert_array_equal(bundle.tensor(tensor_name), tensor)


def test_google_to_transformers_and_back_changes_nothing(tmp_path: Path) -> None:
    layout = Layout(groups=2)
    tensors = numpy_albert.random_tensors(layout)
    source = write_published(tmp_path / "source", layout, tensors)
    convert(source, tmp_path / "there", to="huggingface")
    convert(tmp_path / "there", tmp_path / "back", to="google")
    there = transformers.AlbertForPreTraining.from_pretrained(tmp_path / "there").eval()
    ids, types, mask = map(torch.from_numpy, (IDS, TYPES, MASK))
    with torch.no_grad():
        said = there(ids, attention_mask=mask.long(), token_type_ids=types)

    expected = numpy_albert.outputs(layout, tensors)
    np.testing.assert_allclose(said.prediction_logits[mask], expected.masked[MASK], atol=1e-4)
    np.testing.assert_allclose(said.sop_logits, expected.order, atol=1e-4)
    first = write_bundle("x", {n: torch.from_numpy(t) for n, t in tensors.items()})
    assert (tmp_path / "back/model.ckpt.index").read_bytes() == first["x.index"]
    numbers = (tmp_path / "back/model.ckpt.data-00000-of-00001").read_bytes()
    assert numbers == first["x.data-00000-of-00001"]


def test_an_encoder_alone_has_no_heads_on_either_side(tmp_path: Path) -> None:
    layout = Layout()
    tensors = {
        name: tensor
        for name, tensor in numpy_albert.random_tensors(layout).items()
        if not name.startswith("cls/")
    }
    source = write_published(tmp_path / "source", layout, tensors)
    model = build_model(read_any(source))
    convert(source, tmp_path / "google", to="google")

    assert type(model).__name__ == "AlbertEncoder"
    assert Bundle(tmp_path / "google/model.ckpt").names == sorted(tensors)


@needs_tensorflow
@pytest.mark.slow
def test_tensorflow_writes_what_we_read_and_reads_what_we_write(tmp_path: Path) -> None:
    tensors = {name: numpy_albert.random_tensors(layout) for name, layout in LAYOUTS.items()}
    for name, some in tensors.items():
        np.savez(tmp_path / f"{name}.npz", **{n.replace("/", "|"): t for n, t in some.items()})
    tensorflow("write", tmp_path)
    for name, layout in LAYOUTS.items():
        folder = complete(tmp_path / name, layout)
        convert(folder, folder / "ours", to="zh_albert")
        convert(folder / "ours", folder / "google", to="google")
        assert_says(folder / "ours", numpy_albert.outputs(layout, tensors[name]), 1e-12)
    tensorflow("read", tmp_path)

    for name in LAYOUTS:
        found = {n.replace("|", "/"): t for n, t in np.load(tmp_path / f"{name}.npz").items()}
        bundle = Bundle(tmp_path / name / "google/model.ckpt")
        assert bundle.names == sorted(found)
        for tensor_name, tensor in found.items():
            np.testing.assert_array_equal(bundle.tensor(tensor_name), tensor)


@needs_tensorflow
@pytest.mark.slow
def test_the_stored_files_are_what_tensorflow_writes(tmp_path: Path) -> None:
    tensorflow("record", tmp_path)

    for stored in [*STORED.glob("*/*.index"), STORED / "version_1/model.ckpt"]:
        assert stored.read_bytes() == (tmp_path / stored.relative_to(STORED)).read_bytes()
