"""Rows for our vocabulary, of a teacher's pieces."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from zh_albert.checkpoints.foreign.encoder import ForeignEncoder
from zh_albert.checkpoints.foreign.word_rows import word_rows
from zh_albert.errors import CheckpointError
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
