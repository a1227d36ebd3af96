"""The files of a TensorFlow checkpoint: checksums, tables, tensors, and damage to them."""

from __future__ import annotations

import os
import re
import shutil
import struct
from contextlib import suppress
from pathlib import Path

import pytest
import torch

from zh_albert.checkpoints.tensorflow.bundle import Bundle, write_bundle
from zh_albert.checkpoints.tensorflow.crc32c import masked_crc32c
from zh_albert.checkpoints.tensorflow.table import read_table, write_table
from zh_albert.checkpoints.tensorflow.wire_format import write_field, write_fixed_32
from zh_albert.errors import CheckpointError

STORED = Path(__file__).parents[3] / "golden/tensorflow"


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """A checkpoint with two tensors, in several files."""
    shutil.copytree(STORED / "several_files", tmp_path / "model")
    return tmp_path / "model/model.ckpt"


def read_all(prefix: Path) -> dict[str, torch.Tensor]:
    bundle = Bundle(prefix)
    return {name: bundle.tensor(name) for name in bundle.names}


def test_any_damage_to_the_index_is_told(prefix: Path) -> None:
    index = Path(f"{prefix}.index")
    whole = index.read_bytes()
    data = whole.index(b"\0\0\0\0\1\0\0\0")  # behind it: notes, filling, where they are
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 0x55
        index.write_bytes(damaged)
        if position < data:
            with pytest.raises(CheckpointError, match="not the index"):
                read_all(prefix)
        else:
            with suppress(CheckpointError):
                read_all(prefix)
    for size in range(len(whole)):
        index.write_bytes(whole[:size])
        with pytest.raises(CheckpointError, match=r"not the index.*download it again"):
            read_all(prefix)


def test_any_damage_to_the_numbers_is_told(prefix: Path) -> None:
    path = Path(f"{prefix}.data-00001-of-00003")
    whole = path.read_bytes()
    for position in range(len(whole)):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        with pytest.raises(CheckpointError, match=r"model.ckpt: \w+ is damaged: its checksum"):
            read_all(prefix)


def test_files_that_are_missing_or_cut_off_are_named(prefix: Path) -> None:
    path = Path(f"{prefix}.data-00001-of-00003")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(CheckpointError, match=rf"{path}: truncated: expected 24 bytes, found 23"):
        Bundle(prefix)
    path.write_bytes(b"")
    with pytest.raises(CheckpointError, match="truncated: expected 24 bytes, found 0"):
        Bundle(prefix)
    path.unlink()
    with pytest.raises(CheckpointError, match=rf"{path}: no such file; the weights of model.ckpt"):
        Bundle(prefix)
    Path(f"{prefix}.index").unlink()
    with pytest.raises(CheckpointError, match=r"model.ckpt.index: No such file"):
        Bundle(prefix)


def rewrite(prefix: Path, header: bytes | None = None, entry: bytes | None = None) -> None:
    """Replace an entry of the index, with checksums that fit."""
    index = Path(f"{prefix}.index")
    table = read_table(index.read_bytes())
    replaced = {b"": header, b"a": entry}
    index.write_bytes(write_table(table | {k: v for k, v in replaced.items() if v is not None}))


@pytest.mark.parametrize(
    ("header", "entry", "message"),
    [
        (write_field(1, 3) + write_field(2, 1), None, "expected little-endian numbers"),
        (write_field(1, 1), None, "a tensor is in none of its 1 data files"),
        (b"\x0f", None, "no field has kind 7"),
        (b"\x08", None, "ends within a number"),
        (b"\x12\x09a", None, "ends within field 2"),
        (None, write_field(1, 1) + write_field(7, b""), "a is stored in slices"),
        (None, write_field(1, 1) + write_field(2, b"\x12\x02\x08\x02"), "a is stored in slices"),
    ],
)
def test_odd_contents_are_told(
    header: bytes | None, entry: bytes | None, message: str, prefix: Path
) -> None:
    rewrite(prefix, header, entry)

    with pytest.raises(CheckpointError, match=message) as caught:
        read_all(prefix)

    assert str(prefix) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_compressed_index_is_told(prefix: Path) -> None:
    entries = {b"": b"x"}
    table = bytearray(write_table(entries))
    kind = len(b"\0\0\1x") + 8  # behind the lengths, the value, one restart and their number
    assert table[kind] == 0
    table[kind] = 1
    table[kind + 1 : kind + 5] = struct.pack("<I", masked_crc32c(bytes(table[: kind + 1])))
    Path(f"{prefix}.index").write_bytes(table)

    with pytest.raises(CheckpointError, match="compressed"):
        Bundle(prefix)


def test_what_is_written_is_float32_whatever_it_was(tmp_path: Path) -> None:
    tensors = {"half": torch.tensor([[1.5, -2.0]], dtype=torch.float16), "one": torch.tensor(3.0)}
    for name, content in write_bundle("m", tensors).items():
        (tmp_path / name).write_bytes(content)
    found = read_all(tmp_path / "m")

    assert re.search('"m"', (tmp_path / "checkpoint").read_text(encoding="utf-8"))
    assert found["one"] == 3.0
    assert found["half"].dtype == torch.float32
    assert torch.equal(found["half"], tensors["half"].float())
    assert write_fixed_32(6, 1) == b"\x35\x01\0\0\0"


def write_checkpoint(folder: Path, tensors: dict[str, torch.Tensor]) -> Path:
    for name, content in write_bundle("m", tensors).items():
        (folder / name).write_bytes(content)
    return folder / "m"


def test_names_do_not_share_their_numbers(tmp_path: Path) -> None:
    """Else a file of a megabyte would be a thousand tensors of a megabyte each."""
    prefix = write_checkpoint(tmp_path, {"a": torch.zeros(10)})
    index = tmp_path / "m.index"
    table = read_table(index.read_bytes())
    index.write_bytes(write_table(table | {b"%d" % number: table[b"a"] for number in range(9)}))
    with pytest.raises(CheckpointError, match="expected 400 bytes, found 40"):
        read_all(prefix)


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_numbers_that_are_not_finite_are_refused(tmp_path: Path, value: float) -> None:
    prefix = write_checkpoint(tmp_path, {"a": torch.tensor([1.0, value])})
    with pytest.raises(CheckpointError, match="m: a: expected finite numbers"):
        read_all(prefix)


@pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
@pytest.mark.parametrize("name", ["m.index", "m.data-00000-of-00001"])
def test_pipes_and_devices_are_not_waited_for(tmp_path: Path, name: str) -> None:
    prefix = write_checkpoint(tmp_path, {"a": torch.zeros(10)})
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    with pytest.raises(CheckpointError, match=name):
        read_all(prefix)
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(CheckpointError, match=name):
        read_all(prefix)


def test_an_index_beyond_the_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = write_checkpoint(tmp_path, {"a": torch.zeros(10)})
    monkeypatch.setenv("ZH_ALBERT_MAX_MB", "1")
    os.truncate(tmp_path / "m.index", 2 << 20)
    with pytest.raises(CheckpointError, match=r"m\.index: more than 1,048,576 bytes"):
        read_all(prefix)
