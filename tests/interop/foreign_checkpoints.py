"""Largest difference between this network and other projects' formulas, after a conversion.

    python -m tests.interop.foreign_checkpoints

Checkpoints have random float32 weights. The formulas are in ``tests/helpers/numpy_albert.py`` and
``numpy_uer.py``, written from the projects' source, in float64; the network computes in float64.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tests.helpers import numpy_albert, numpy_uer
from tests.helpers.numpy_albert import IDS, MASK, TYPES, Array, Layout, Outputs
from tests.helpers.published import write_published
from tests.interop.row import BACK, THERE, Row, print_rows
from zh_albert.checkpoints.convert import convert, read_any
from zh_albert.checkpoints.stored_model import build_model
from zh_albert.checkpoints.tensorflow.bundle import Bundle
from zh_albert.checkpoints.tensorflow.heads import HeadTask
from zh_albert.tasks.catalog import network_of

LAYOUTS = {
    "google-research/albert": Layout(),
    "google-research/albert, attention by heads": Layout(by_heads=True),
    "google-research/albert, two groups": Layout(groups=2),
    "albert_zh, google's code, dense layers in groups": Layout(groups=12, ffn_groups=4),
    "albert_zh": Layout(code="brightmart"),
    "albert_zh, attention shared": Layout(code="brightmart", shared="attention"),
    "albert_zh, nothing shared": Layout(code="brightmart", shared="none"),
    "albert_zh, pre-norm": Layout(code="brightmart", pre_norm=True),
}


def rows() -> Iterator[Row]:
    """Yield every system, head and direction, with the largest difference of the outputs."""
    with tempfile.TemporaryDirectory() as name:
        for number, (system, layout) in enumerate(LAYOUTS.items()):
            yield from _tensorflow(system, layout, Path(name) / str(number))
        for activation in numpy_uer.ACTIVATIONS:
            yield from _uer(activation, Path(name) / activation)


def _tensorflow(system: str, layout: Layout, folder: Path) -> Iterator[Row]:
    tensors = numpy_albert.random_tensors(layout)
    expected = numpy_albert.outputs(layout, tensors)
    write_published(folder / "pretrained", layout, tensors)
    convert(folder / "pretrained", folder / "ours", to="zh_albert")
    yield from _pretraining(system, BACK, folder / "ours", expected)
    convert(folder / "ours", folder / "theirs", to="google")
    bundle = Bundle(folder / "theirs/model.ckpt")
    written = {name: bundle.tensor(name).numpy() for name in bundle.names}
    again = numpy_albert.outputs(_as_written(layout), written)
    yield from _pretraining(system, THERE, folder / "ours", again)

    three = numpy_albert.fine_tuned(tensors, "", 3)
    said = numpy_albert.class_logits(layout, three)
    found = _fine_tuned(folder / "classifier", layout, three, "classification", ["a", "b", "c"])
    yield Row(system, "classifier", BACK, _largest(found, said))
    span = numpy_albert.fine_tuned(tensors, "cls/squad/", 2)
    said = numpy_albert.border_logits(layout, span)[MASK]
    found = _fine_tuned(folder / "reader", layout, span, "reading", [])[MASK]
    yield Row(system, "reader (SQuAD 1.1)", BACK, _largest(found, said))


def _uer(activation: str, folder: Path) -> Iterator[Row]:
    tensors = numpy_uer.random_tensors()
    folder.mkdir(parents=True)
    torch.save({n: torch.from_numpy(t) for n, t in tensors.items()}, folder / "model.bin")
    config = numpy_uer.CONFIG | {"hidden_act": activation}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    convert(folder, folder / "ours", to="zh_albert")
    expected = numpy_uer.outputs(tensors, activation)
    yield from _pretraining(f"UER-py, {activation}", BACK, folder / "ours", expected)


def _pretraining(system: str, direction: str, folder: Path, expected: Outputs) -> Iterator[Row]:
    model: Any = build_model(read_any(folder)).double().eval()
    ids, types, mask = map(torch.from_numpy, (IDS, TYPES, MASK))
    with torch.no_grad():
        hidden = model.encoder(ids, types, mask).hidden
        said = model(ids, types, mask, torch.nonzero(mask))
    yield Row(system, "encoder", direction, _largest(hidden[mask], expected.hidden[MASK]))
    yield Row(system, "masked LM", direction, _largest(said.masked, expected.masked[MASK]))
    yield Row(system, "sentence order", direction, _largest(said.order, expected.order))


def _fine_tuned(
    folder: Path, layout: Layout, tensors: dict[str, Array], task: HeadTask, labels: list[str]
) -> Any:
    write_published(folder, layout, tensors)
    stored = read_any(folder, task=task, labels=labels)
    model = build_model(stored, network_of).double().eval()
    with torch.no_grad():
        return model(*map(torch.from_numpy, (IDS, TYPES, MASK)))


def _as_written(layout: Layout) -> Layout:
    """Return the layout of what is written: every layer a group of its own, if they are many."""
    return Layout(groups=4) if layout.groups > 2 else layout


def _largest(found: Any, expected: Array) -> float:
    return float(np.abs(np.asarray(found) - expected).max())


if __name__ == "__main__":
    print_rows(rows())
