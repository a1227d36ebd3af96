"""A teacher's vectors of training texts, from a file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zh_albert.configio import check_above_0
from zh_albert.errors import DataError

_AVERAGED = 20_000  # vectors whose mean is taken off all


@dataclass(frozen=True, kw_only=True)
class VectorsConfig:
    """A teacher's vectors of training texts, from whatever model."""

    file: str  # .npy, shape (rows, width); a line of the training file names its row as "vector"
    weight: float = 1.0  # of a text that has one, where a pair that means the same weighs 1

    def __post_init__(self) -> None:
        check_above_0("vectors.weight", self.weight)


class TeacherVectors:
    """Vectors of length 1, less what they have in common.

    Those of many models all point nearly the same way: a student would learn that direction alone.

    Args:
        config: Names the file.
        rows: The rows that training texts name.

    Raises:
        DataError: If it is no file of vectors, or lacks a row.
    """

    def __init__(self, config: VectorsConfig, rows: Sequence[int]) -> None:
        self._file, self._vectors, used = config.file, _read(config.file), np.unique(rows)
        if not rows:
            raise DataError(
                f"{config.file}: no training text names a row of it; expected lines "
                '{"text": …, "vector": NUMBER}'
            )
        if used[-1] >= len(self._vectors):
            raise DataError(
                f"{config.file}: expected at least {used[-1] + 1:,} vectors, as a training text "
                f"names row {used[-1]}, found {len(self._vectors):,}"
            )
        finite = np.isfinite(self._vectors[used]).all(-1)
        if not finite.all():
            raise DataError(
                f"{config.file}: row {used[~finite][0]} is not all finite numbers; was the file "
                "written to its end?"
            )
        self._common = _unit(self._vectors[used[:_AVERAGED]]).mean(0)

    @property
    def fingerprint(self) -> str:
        """A digest of the file."""
        with Path(self._file).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]

    def of(self, rows: Sequence[int]) -> Tensor:
        """Return vectors of some rows. Shape: (rows, width)."""
        return torch.from_numpy(_unit(self._vectors[list(rows)]) - self._common)


def _read(file: str) -> NDArray[Any]:
    try:
        found: NDArray[Any] = np.load(file, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{file}: expected vectors saved by numpy.save: {error}") from None
    if found.ndim != 2 or found.dtype.kind != "f":
        raise DataError(
            f"{file}: expected floating-point vectors of the shape (texts, width), found "
            f"{found.dtype} of {found.shape}"
        )
    return found


def _unit(vectors: NDArray[Any]) -> NDArray[np.float32]:
    exact = np.asarray(vectors, np.float32)
    scaled: NDArray[np.float32] = exact / np.maximum(
        np.linalg.norm(exact, axis=-1, keepdims=True), 1e-12
    )
    return scaled
