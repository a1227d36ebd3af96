"""Conversions that are refused, of the smallest models."""

from __future__ import annotations

from pathlib import Path

import pytest

from zh_albert.checkpoints.convert import convert_folder
from zh_albert.errors import CheckpointError
from zh_albert.model.config import AlbertConfig

CONFIG = AlbertConfig(
    vocab_size=14,
    embedding_size=4,
    hidden_size=8,
    num_hidden_layers=3,
    num_attention_heads=2,
    intermediate_size=12,
    max_position_embeddings=9,
)
VOCABULARY = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n"


def refusal(source: Path) -> str:
    """Return the one line with which a source is refused; nothing must have been written."""
    target = source.parent / "target"
    with pytest.raises(CheckpointError) as caught:
        convert_folder(source, target, to="zh_albert")
    assert not target.exists()
    assert "\n" not in str(caught.value)
    return str(caught.value)
