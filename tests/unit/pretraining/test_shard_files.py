"""Files of shards: bytes worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.helpers.shard_folders import TOKENIZER, write
from zh_albert.pretraining.bulk_tokenizer import Block
from zh_albert.pretraining.shard_files import PartWriter
from zh_albert.pretraining.shards import KINDS


def test_files_hold_what_the_format_says(tmp_path: Path) -> None:
    write(tmp_path, ["我们在北京。天气很好！", "好"])
    tokens = np.fromfile(tmp_path / "part-00000.tokens", "<u2")

    assert TOKENIZER.tokens(tokens.tolist()) == list("我们在北京。天气很好！好")
    # 我们 在 北京 。 天气 很 好 ！ | 好: 1011 0110 | 1111
    assert (tmp_path / "part-00000.words").read_bytes() == bytes([0b10110110, 0b11110000])
    assert np.fromfile(tmp_path / "part-00000.sentences", "<u4").tolist() == [0, 6, 11]
    assert np.fromfile(tmp_path / "part-00000.documents", "<u4").tolist() == [0, 11]


def test_blocks_of_any_size_give_the_same_bytes(tmp_path: Path) -> None:
    block = Block(
        np.arange(13, dtype=np.uint16),
        np.arange(13) % 3 == 0,
        np.array([0, 6]),
        np.array([0, 6]),
        13,
    )
    halves = [
        Block(block.token_ids[:5], block.word_starts[:5], np.array([0]), np.array([0]), 5),
        Block(block.token_ids[5:], block.word_starts[5:], np.array([1]), np.array([1]), 8),
    ]
    for name, blocks in (("one", [block]), ("two", halves)):
        with PartWriter(tmp_path, name, unknown_id=1) as writer:
            for part in blocks:
                writer.write(part)
            writer.finish()
    for kind in KINDS:
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()


def test_a_part_that_was_not_finished_leaves_nothing(tmp_path: Path) -> None:
    block = Block(np.ones(9, np.uint16), np.ones(9, bool), np.zeros(1), np.zeros(1), 9)
    with PartWriter(tmp_path, "part-00000", unknown_id=1) as writer:
        writer.write(block)

    assert list(tmp_path.iterdir()) == []
