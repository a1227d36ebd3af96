"""Masked CRC-32C, the checksum in TensorFlow's files."""

from __future__ import annotations

import google_crc32c
import numpy as np
import numpy.typing as npt


def masked_crc32c(data: bytes | npt.NDArray[np.uint8]) -> int:
    """Return the CRC-32C in TensorFlow's masked form, which is safe for checksums of checksums.

    >>> hex(masked_crc32c(b"123456789"))
    '0xc78ab0e5'

    Source: tensorflow/tensorflow, core/lib/hash/crc32c.h.
    """
    checksum: int = google_crc32c.value(data)
    return (((checksum >> 15) | (checksum << 17)) + 0xA282EAD8) & 0xFFFFFFFF
