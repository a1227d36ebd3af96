"""What goes along with the weights."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.conversions import CONFIG
from zh_albert.checkpoints.convert import convert
from zh_albert.checkpoints.store import save_model
from zh_albert.errors import CheckpointError
from zh_albert.model.encoder import AlbertEncoder


def test_a_tokenizer_of_another_kind_is_not_made_a_vocabulary(tmp_path: Path) -> None:
    save_model(tmp_path / "a", model=AlbertEncoder(CONFIG), config=CONFIG, files={}, task={})
    content = {"model": {"type": "Unigram", "vocab": [["中", -1.0]]}}
    (tmp_path / "a/tokenizer.json").write_text(json.dumps(content))
    with pytest.raises(CheckpointError, match=r"tokenizer\.json: expected the complete vocabulary"):
        convert(tmp_path / "a", tmp_path / "b", to="zh_albert")
