"""From a pretrained encoder to files that other programs run, and that fill masks here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.helpers.commands import Cli
from tests.helpers.micro import CONFIG, save_micro_pretrained
from tests.helpers.task_files import reviews
from zh_albert import load
from zh_albert.checkpoints.pretrained_encoder import open_encoder
from zh_albert.errors import ConfigError
from zh_albert.inference.export import export
from zh_albert.runtimes.onnx_graph import INPUTS
from zh_albert.runtimes.without_telemetry import import_onnxruntime

MASKED = ["去[MASK]散步", "今天[MASK][MASK]很好，[MASK]", "[MASK]"]


@pytest.mark.parametrize(
    ("form", "precision", "near"),
    [
        ("onnx", "fp32", 2e-6),
        ("onnx", "fp16", 2e-6),  # as its own weights are
        ("onnx", "int8", 0.01),
        ("openvino", "fp32", 2e-6),
    ],
)
def test_an_exported_encoder_fills_masks_as_before(
    tmp_path: Path, cli: Cli, form: str, precision: str, near: float
) -> None:
    plain, out = save_micro_pretrained(tmp_path / "plain"), tmp_path / "fast"
    ran = cli("export", plain, out, "--format", form, "--precision", precision)
    assert ran.code == 0, ran.err
    exported = load(out)
    assert exported._export.open().name.endswith(precision)
    for spots, expected in zip(exported(MASKED), load(plain)(MASKED), strict=True):
        for spot, wanted in zip(spots, expected, strict=True):
            best = [candidate.score for candidate in wanted.candidates]
            assert [c.score for c in spot.candidates] == pytest.approx(best, abs=near)
            if precision != "int8":
                assert spot.candidates[0].text == wanted.candidates[0].text
    by_torch = load(out, runtime="torch")
    assert by_torch._export is None
    assert by_torch(MASKED) == load(plain)(MASKED)


def test_an_exported_encoder_gives_states_and_if_it_has_the_head_logits(
    micro: Path, tmp_path: Path
) -> None:
    ids = np.array([[2, 700, 800, 3]])
    inputs = dict(zip(INPUTS, (ids, np.zeros_like(ids), np.ones_like(ids)), strict=True))
    found = []
    for number, folder in enumerate((micro, save_micro_pretrained(tmp_path / "pretrained"))):
        out = tmp_path / f"fast{number}"
        export(folder, out, form="onnx", opset=17)
        session = import_onnxruntime().InferenceSession(out / "model.onnx")
        names = [output.name for output in session.get_outputs()]
        outputs = dict(zip(names, session.run(None, inputs), strict=True))
        encoder = open_encoder(folder)
        with torch.inference_mode():
            hidden = encoder(*(torch.from_numpy(i) for i in (ids, ids * 0)), torch.ones(1, 4) > 0)
        np.testing.assert_allclose(outputs["last_hidden_state"], hidden.hidden, atol=1e-5)
        found.append({name: array.shape for name, array in outputs.items()})
    states = {"last_hidden_state": (1, 4, CONFIG.hidden_size)}
    assert found == [states, {"logits": (1, 4, CONFIG.vocab_size), **states}]


def test_what_an_encoder_has_not_is_said(tmp_path: Path, cli: Cli) -> None:
    plain, dev = save_micro_pretrained(tmp_path / "plain"), reviews(tmp_path / "dev.jsonl")
    for arguments, said in (
        (("--format=onnx", "--dev", dev), "dev scores a task; an encoder has none"),
        (("--format=zh_albert", "--precision=int8"), "export it as onnx or openvino"),
    ):
        ran = cli("export", plain, tmp_path / "fast", *arguments)
        assert (ran.code, len(ran.err.splitlines())) == (2, 1)
        assert said in ran.err
    assert cli("export", plain, tmp_path / "fast", "--format=onnx").code == 0
    with pytest.raises(ConfigError, match="as it was exported, else in PyTorch"):
        load(tmp_path / "fast", precision="bf16")
