"""Folders of google's and brightmart's checkpoints, as they are published."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from tests.helpers.numpy_albert import WORDS, Array, Layout
from zh_albert.checkpoints.tensorflow.bundle import write_bundle


def write_published(folder: Path, layout: Layout, tensors: dict[str, Array]) -> Path:
    """Write a checkpoint by our own writer, and what stands beside it."""
    folder.mkdir(parents=True)
    files = write_bundle("model.ckpt-best", {n: torch.from_numpy(t) for n, t in tensors.items()})
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return complete(folder, layout)


def complete(folder: Path, layout: Layout) -> Path:
    """Add what stands beside a published checkpoint."""
    (folder / "albert_config.json").write_text(json.dumps(layout.config()), encoding="utf-8")
    vocabulary = "".join(f"{word}\n" for word in WORDS)
    (folder / "vocab_chinese.txt").write_text(vocabulary, encoding="utf-8")
    return folder
