"""Sorted tables of keys and values, the format of a checkpoint's index file.

A table consists of blocks, each followed by its type and checksum, and a footer with the place of
the index block, whose values are the places of the data blocks. Within a block, a key omits the
prefix that it shares with the key before it.

Source: google/leveldb, doc/table_format.md; tensorflow/tensorflow, core/lib/io/table_builder.cc.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

from zh_albert.checkpoints.tensorflow.crc32c import masked_crc32c
from zh_albert.checkpoints.tensorflow.wire_format import read_varint, write_varint

_MAGIC = struct.pack("<Q", 0xDB4775248B80FB57)
_FOOTER_SIZE = 48
_PLAIN = b"\0"  # type of a block that is not compressed
_TRAILER_SIZE = 5
_LONGEST_KEY = 4096  # bytes; each key can repeat the one before at the cost of three bytes


def ends_as_table(path: Path) -> bool:
    """Return whether a regular file ends as every table does; one that cannot be read does not."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - len(_MAGIC)))
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def read_table(data: bytes) -> dict[bytes, bytes]:
    """Return all keys and values of a table.

    Raises:
        ValueError: If the table is incomplete, a checksum does not match, blocks overlap, or a key
            is too long.
    """
    footer = data[-_FOOTER_SIZE:]
    if len(footer) < _FOOTER_SIZE or not footer.endswith(_MAGIC):
        raise ValueError("it does not end as an index file does")
    _, _, position = _read_place(footer, 0)
    start, size, _ = _read_place(footer, position)
    entries: dict[bytes, bytes] = {}
    left = len(data)
    for _, place in _read_block(data, start, size):
        start, size, _ = _read_place(place, 0)
        left -= size + _TRAILER_SIZE
        if left < 0:
            raise ValueError("its blocks overlap")
        entries.update(_read_block(data, start, size))
    return entries


def write_table(entries: Mapping[bytes, bytes]) -> bytes:
    """Return a table with one data block."""
    table = b""
    places = []
    last_key = max(entries, default=b"")
    for content in (entries, {}):  # the data block, then an empty block of metadata
        block = _write_block(content)
        places.append(write_varint(len(table)) + write_varint(len(block) - _TRAILER_SIZE))
        table += block
    data, metadata = places
    index = _write_block({last_key: data})
    footer = metadata + write_varint(len(table)) + write_varint(len(index) - _TRAILER_SIZE)
    return table + index + footer.ljust(_FOOTER_SIZE - len(_MAGIC), b"\0") + _MAGIC


def _read_place(data: bytes, position: int) -> tuple[int, int, int]:
    """Return a block's start and size, and the position after them."""
    start, position = read_varint(data, position)
    size, position = read_varint(data, position)
    return start, size, position


def _read_block(data: bytes, start: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield a block's keys and values."""
    end = start + size
    if end + _TRAILER_SIZE > len(data):
        raise ValueError("it ends within a block")
    (checksum,) = struct.unpack_from("<I", data, end + 1)
    if masked_crc32c(data[start : end + 1]) != checksum:
        raise ValueError("a checksum does not match")
    if data[end : end + 1] != _PLAIN:
        raise ValueError("it is compressed; TensorFlow writes uncompressed tables")
    block = data[start:end]
    (restarts,) = struct.unpack_from("<I", block, size - 4)
    position, key = 0, b""
    while position < size - 4 * (restarts + 1):
        shared, position = read_varint(block, position)
        added, position = read_varint(block, position)
        length, position = read_varint(block, position)
        if shared + added > _LONGEST_KEY:
            raise ValueError(f"a name has more than {_LONGEST_KEY} bytes")
        key = key[:shared] + block[position : position + added]
        position += added
        yield key, block[position : position + length]
        position += length


def _write_block(entries: Mapping[bytes, bytes]) -> bytes:
    """Return a block with complete keys, its type and checksum."""
    block, restarts = b"", []
    for key in sorted(entries):
        restarts.append(len(block))
        value = entries[key]
        lengths = write_varint(0) + write_varint(len(key)) + write_varint(len(value))
        block += lengths + key + value
    restarts = restarts or [0]
    block += struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts)) + _PLAIN
    return block + struct.pack("<I", masked_crc32c(block))
