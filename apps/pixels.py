"""A picture of shares as a PNG in a ``data:`` address: no file, no library, no request."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

_LEVELS = 16
_COLOUR = bytes((38, 152, 138))  # reads on light paper and on dark


def shares_picture(shares: NDArray[np.float32]) -> str:
    """Return the address of a picture with a pixel for each share, clear at 0 and full at 1.

    Small shares are made visible: colour grows with the square root.

    Args:
        shares: From 0 to 1. Shape: (height, width).
    """
    height, width = shares.shape
    levels = np.rint(np.sqrt(shares.clip(0, 1)) * (_LEVELS - 1)).astype(np.uint8)
    rows = np.pad(levels, ((0, 0), (1, 0)))  # each row begins with its filter: none
    opacity = bytes(round(255 * level / (_LEVELS - 1)) for level in range(_LEVELS))
    header = struct.pack(">2I5B", width, height, 8, 3, 0, 0, 0)  # 8 bits, into a palette
    parts = (
        (b"IHDR", header),
        (b"PLTE", _COLOUR * _LEVELS),
        (b"tRNS", opacity),
        (b"IDAT", zlib.compress(rows.tobytes())),
        (b"IEND", b""),
    )
    content = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)
    return "data:image/png;base64," + base64.b64encode(content).decode()


def _chunk(name: bytes, content: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(name + content))
    return struct.pack(">I", len(content)) + name + content + checksum
