"""Protocol-buffer messages, as far as a checkpoint needs them: fields by number, no schema."""

from __future__ import annotations

import struct
from collections.abc import Iterator

_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """Read a number with seven bits per byte; return it and the position after it.

    Raises:
        ValueError: If the data end within it, or it has more than 64 bits.
    """
    value = shift = 0
    while position < len(data):
        octet = data[position]
        position += 1
        value |= (octet & 127) << shift
        if octet < 128:
            return value, position
        shift += 7
        if shift >= 70:
            raise ValueError("a number has more than 64 bits")
    raise ValueError("it ends within a number")


def write_varint(value: int) -> bytes:
    r"""Return a number ≥ 0 with seven bits per byte.

    >>> write_varint(300)
    b'\xac\x02'
    """
    octets = bytearray()
    while value > 127:
        octets.append(value & 127 | 128)
        value >>= 7
    return bytes([*octets, value])


def read_fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    r"""Yield each field's number and value; a nested message stays bytes.

    >>> list(read_fields(b"\x08\x01\x12\x02ab"))
    [(1, 1), (2, b'ab')]

    Raises:
        ValueError: If it is not a message.
    """
    position = 0
    while position < len(message):
        key, position = read_varint(message, position)
        number, kind = key >> 3, key & 7
        value: int | bytes
        if kind == _VARINT:
            value, position = read_varint(message, position)
        elif kind == _BYTES:
            size, position = read_varint(message, position)
            value, position = message[position : position + size], position + size
        elif kind in (_FIXED_32, _FIXED_64):
            size = 4 if kind == _FIXED_32 else 8
            value = int.from_bytes(message[position : position + size], "little")
            position += size
        else:
            raise ValueError(f"no field has kind {kind}")
        if position > len(message):
            raise ValueError(f"it ends within field {number}")
        yield number, value


def write_field(number: int, value: int | bytes) -> bytes:
    """Return a field that holds a number ≥ 0 or bytes."""
    if isinstance(value, int):
        return write_varint(number << 3 | _VARINT) + write_varint(value)
    return write_varint(number << 3 | _BYTES) + write_varint(len(value)) + value


def write_fixed_32(number: int, value: int) -> bytes:
    """Return a field that holds a number in four bytes."""
    return write_varint(number << 3 | _FIXED_32) + struct.pack("<I", value)
