"""The tables of a TensorFlow checkpoint's index."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zh_albert.checkpoints.tensorflow.crc32c import masked_crc32c
from zh_albert.checkpoints.tensorflow.table import read_table, write_table
from zh_albert.checkpoints.tensorflow.wire_format import read_varint, write_varint


@given(st.dictionaries(st.binary(max_size=20), st.binary(max_size=300), max_size=40))
def test_a_table_holds_what_was_written(entries: dict[bytes, bytes]) -> None:
    assert read_table(write_table(entries)) == entries


def block_of(rows: bytes) -> bytes:
    """Return a block with its type and checksum; it says that it has one restart."""
    block = rows + struct.pack("<2I", 0, 1) + b"\0"
    return block + struct.pack("<I", masked_crc32c(block))


def table_of(data: bytes, index_rows: bytes) -> bytes:
    """Return a table of a data block and of an index."""
    index = block_of(index_rows)
    footer = b"\0\0" + write_varint(len(data)) + write_varint(len(index) - 5)
    return data + index + footer.ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57)


def test_blocks_that_are_listed_again_and_again_are_refused() -> None:
    data = block_of(b"\0\1\1ab" * 100)
    place = write_varint(0) + write_varint(len(data) - 5)
    row = b"\0\1" + write_varint(len(place)) + b"k" + place
    assert read_table(table_of(data, row)) == {b"a": b"b"}
    with pytest.raises(ValueError, match="its blocks overlap"):
        read_table(table_of(data, row * 1000))


def test_keys_that_grow_and_grow_are_refused() -> None:
    """Each repeats the one before it, at the cost of a few bytes."""
    rows = b"\0\1\1ab" + b"".join(write_varint(length) + b"\1\1ab" for length in range(1, 10**4))
    data = block_of(rows)
    place = write_varint(0) + write_varint(len(data) - 5)
    with pytest.raises(ValueError, match="a name has more than 4096 bytes"):
        read_table(table_of(data, b"\0\1" + write_varint(len(place)) + b"k" + place))


def test_a_number_without_end_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 64 bits"):
        read_varint(b"\xff" * 10**6, 0)
