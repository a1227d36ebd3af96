"""Conversions of the smallest models: changed, refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from zh_albert.checkpoints.convert import convert
from zh_albert.checkpoints.tensorflow.bundle import Bundle, write_bundle
from zh_albert.checkpoints.tensorflow.folder import write_tensorflow
from zh_albert.errors import CheckpointError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.pretraining_heads import AlbertForPretraining

CONFIG = AlbertConfig(
    vocab_size=14,
    embedding_size=4,
    hidden_size=8,
    num_hidden_layers=3,
    num_attention_heads=2,
    intermediate_size=12,
    max_position_embeddings=9,
)
KERNEL = "bert/pooler/dense/kernel"
VOCABULARY = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n"


def refusal(source: Path) -> str:
    """Return the one line with which a source is refused; nothing must have been written."""
    target = source.parent / "target"
    with pytest.raises(CheckpointError) as caught:
        convert(source, target, to="zh_albert")
    assert not target.exists()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def google_folder(folder: Path) -> Path:
    """Write a folder of google-research/albert, with both pretraining heads."""
    files = {"vocab.txt": VOCABULARY, "README.md": b"card"}
    write_tensorflow(folder, model=AlbertForPretraining(CONFIG), config=CONFIG, files=files)
    (folder / "manifest.json").unlink()  # theirs has none
    return folder


def change_config(folder: Path, **changes: Any) -> None:
    """Change fields of a folder's ``albert_config.json``."""
    path = folder / "albert_config.json"
    content = {**json.loads(path.read_text(encoding="utf-8")), **changes}
    path.write_text(json.dumps(content), encoding="utf-8")


def change_tensors(folder: Path, changes: dict[str, torch.Tensor | None]) -> None:
    """Replace or add tensors of a folder of google's; None removes one."""
    bundle = Bundle(folder / "model.ckpt")
    tensors = {name: bundle.tensor(name).clone() for name in bundle.names} | changes
    kept = {name: tensor for name, tensor in tensors.items() if tensor is not None}
    for name, content in write_bundle("model.ckpt", kept).items():
        (folder / name).write_bytes(content)
