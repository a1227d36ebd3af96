"""A NumPy file of the vectors of a file's rows, written as they come."""

from __future__ import annotations

from typing import IO, Any

import numpy as np
from numpy.lib import format as npy


class VectorsFile:
    """An ``.npy`` file for ``numpy.load``: float32, one row for each row that was read.

    A row that could not be answered is all NaN. Shape: (rows, width).

    Args:
        file: Open for writing, and at its beginning.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._rows = self._width = 0

    def write(self, row: Any, answer: dict[str, Any]) -> None:  # noqa: ARG002
        """Add the vector of a row."""
        vector = np.array(answer["vector"], "<f4")
        if vector.size and not self._width:
            self._width = vector.size
            self._write_header()
            self._file.write(self._unknown() * self._rows)
        self._rows += 1
        if self._width:
            self._file.write(vector.tobytes() or self._unknown())

    def finish(self) -> None:
        """Say in the header how many rows there are; it has room for any number of them."""
        self._file.seek(0)
        self._write_header()

    def _write_header(self) -> None:
        shape = (self._rows, self._width)
        about = {"descr": "<f4", "fortran_order": False, "shape": shape}
        npy.write_array_header_1_0(self._file, about)

    def _unknown(self) -> bytes:
        return np.full(self._width, np.nan, "<f4").tobytes()
