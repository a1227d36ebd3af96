"""Tensors of a TensorFlow checkpoint: an index file with one or more data files.

``PREFIX.index`` is a table from a tensor's name to its dtype, shape and place; the numbers are in
``PREFIX.data-00000-of-00001``, or in several such files, without anything between them.

Source: tensorflow/tensorflow, core/protobuf/tensor_bundle.proto and core/util/tensor_bundle.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from zh_albert.checkpoints.finite import refuse_not_finite
from zh_albert.checkpoints.tensorflow.crc32c import masked_crc32c
from zh_albert.checkpoints.tensorflow.table import read_table, write_table
from zh_albert.checkpoints.tensorflow.wire_format import read_fields, write_field, write_fixed_32
from zh_albert.errors import CheckpointError
from zh_albert.files.plain_files import read_plain

_FLOAT32 = 1
# TensorFlow's numbers for the dtypes of weights.
_DTYPES = {_FLOAT32: torch.float32, 2: torch.float64, 14: torch.bfloat16, 19: torch.float16}
_HEADER = b""  # key of the entry that describes the files


@dataclass(frozen=True)
class _Entry:
    """Place of a tensor; fields named as in TensorFlow's BundleEntryProto."""

    dtype: int = 0
    shape: tuple[int, ...] = ()
    shard_id: int = 0
    offset: int = 0
    size: int = 0
    crc32c: int = 0
    sliced: bool = False


class Bundle:
    """Tensors of a checkpoint, read from disk on demand.

    Args:
        prefix: Path of the index file without ``.index``.

    Raises:
        CheckpointError: If a file is missing, truncated, damaged, or not part of a checkpoint.
    """

    def __init__(self, prefix: Path) -> None:
        self.prefix = prefix
        self._index = Path(f"{prefix}.index")
        try:
            table = read_table(read_plain(self._index))
            header = _numbers(table.pop(_HEADER, b""))
            self._entries = {
                key.decode(errors="replace"): _read_entry(value) for key, value in table.items()
            }
            count = header.get(1, 0)
            if any(entry.shard_id >= count for entry in self._entries.values()):
                raise ValueError(f"a tensor is in none of its {count} data files")
        except OSError as error:
            raise CheckpointError(
                f"{self._index}: {error.strerror}; a TensorFlow checkpoint has an index file and "
                "data files beside it"
            ) from None
        except (ValueError, struct.error) as error:
            raise CheckpointError(
                f"{self._index}: not the index of a TensorFlow checkpoint: {error}; download it "
                "again"
            ) from None
        if header.get(2):
            raise CheckpointError(
                f"{self._index}: expected little-endian numbers, found big-endian ones"
            )
        self._shards = [self._open_shard(number, count) for number in range(count)]

    @property
    def names(self) -> list[str]:
        """Names of the tensors that hold weights, sorted; step counts and strings are excluded."""
        return [*self.shapes]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the tensors of floating point, by name, sorted."""
        entries = sorted(self._entries.items())
        return {name: entry.shape for name, entry in entries if entry.dtype in _DTYPES}

    @property
    def others(self) -> list[str]:
        """Names of the other tensors, sorted: step counts, strings."""
        return sorted(name for name, entry in self._entries.items() if entry.dtype not in _DTYPES)

    def tensor(self, name: str) -> Tensor:
        """Return a tensor, memory-mapped; the file must not change while it is in use.

        Raises:
            CheckpointError: If the checksum does not match, the tensor is stored in slices, or its
                numbers are not finite.
        """
        entry = self._entries[name]
        dtype = _DTYPES[entry.dtype]
        octets = self._shards[entry.shard_id][entry.offset : entry.offset + entry.size]
        if entry.sliced or entry.size != math.prod(entry.shape) * dtype.itemsize:
            raise CheckpointError(
                f"{self._index}: {name} is stored in slices, which cannot be read; save the "
                "checkpoint again from unpartitioned variables"
            )
        if masked_crc32c(octets) != entry.crc32c:
            raise CheckpointError(
                f"{self.prefix}: {name} is damaged: its checksum does not match; download it again"
            )
        if entry.offset % dtype.itemsize:
            octets = octets.copy()  # torch requires aligned numbers
        found = torch.from_numpy(octets).view(dtype).reshape(entry.shape)
        refuse_not_finite({name: found}, self.prefix)
        return found

    def _open_shard(self, number: int, count: int) -> npt.NDArray[np.uint8]:
        """Map a data file into memory, if it contains all of its tensors."""
        path = Path(f"{self.prefix}.data-{number:05d}-of-{count:05d}")
        if not path.is_file():
            raise CheckpointError(
                f"{path}: no such file; the weights of {self._index.name} should be there"
            )
        size = path.stat().st_size
        own = [entry for entry in self._entries.values() if entry.shard_id == number]
        # The sum, too: names must not share their numbers.
        needed = max(sum(e.size for e in own), *(e.offset + e.size for e in own), 0)
        if size < needed:
            raise CheckpointError(
                f"{path}: truncated: expected {needed} bytes, found {size}; download it again"
            )
        # Copy on write: nothing is ever written, but torch requires a writable array.
        return np.memmap(path, np.uint8, mode="c") if size else np.zeros(0, np.uint8)


def write_bundle(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, bytes]:
    """Return the files of a checkpoint that TensorFlow can read, by name.

    Args:
        prefix: Prefix of the names of the files.
        tensors: Stored as float32, whatever their dtype: variables of ALBERT have no other.
    """
    header = write_field(1, 1) + write_field(3, write_field(1, 1))  # one data file; version 1
    entries, data = {_HEADER: header}, []
    offset = 0
    for name in sorted(tensors):
        octets = tensors[name].detach().to("cpu", torch.float32).contiguous().numpy().tobytes()
        shape = b"".join(write_field(2, write_field(1, size)) for size in tensors[name].shape)
        entries[name.encode()] = (
            write_field(1, _FLOAT32)
            + write_field(2, shape)
            + write_field(4, offset)
            + write_field(5, len(octets))
            + write_fixed_32(6, masked_crc32c(octets))
        )
        data.append(octets)
        offset += len(octets)
    return {
        f"{prefix}.index": write_table(entries),
        f"{prefix}.data-00000-of-00001": b"".join(data),
        "checkpoint": f'model_checkpoint_path: "{prefix}"\n'.encode(),
    }


def _read_entry(message: bytes) -> _Entry:
    numbers = _numbers(message)
    parts = [(number, value) for number, value in read_fields(message) if isinstance(value, bytes)]
    shapes = [_read_shape(value) for number, value in parts if number == 2]
    return _Entry(
        dtype=numbers.get(1, 0),
        shape=shapes[0] if shapes else (),
        shard_id=numbers.get(3, 0),
        offset=numbers.get(4, 0),
        size=numbers.get(5, 0),
        crc32c=numbers.get(6, 0),
        sliced=any(number == 7 for number, _ in parts),
    )


def _read_shape(message: bytes) -> tuple[int, ...]:
    sizes = (value for number, value in read_fields(message) if number == 2)
    return tuple(_numbers(size).get(1, 0) for size in sizes if isinstance(size, bytes))


def _numbers(message: bytes) -> dict[int, int]:
    """Return the fields that are numbers."""
    return {number: value for number, value in read_fields(message) if isinstance(value, int)}
