"""Matrices stored in 8 bits: whole numbers from -90 to 90, deflated, and a scale for each row.

A row of a matrix makes one output, a row of a table is one entry, so each has a range of its own.
Most numbers of a row are far from its largest, so deflated they take 6.8 bits each; from -127 to
127, 7.1 bits, dev scores are the same (docs/experiments/int8.md).
Only the layers and the vocabulary are stored so: they are nearly all of the numbers, and of the
rest (positions, the embeddings' projection, heads) rounding costs more than its bytes are worth.
In memory a model is always floating point: these two functions stand between it and the file.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from zh_albert.errors import CheckpointError

_SCALE = ".scale"  # added to the name of what it belongs to
_LARGEST = 90
_ROUNDED = re.compile(r"(^|\.)((attention|ffn)\.\d+\.\w+|embeddings\.word|pooler)\.weight$")


def to_int8(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Round the large matrices among a model's tensors; other matrices become float16.

    Args:
        tensors: By our names. Vectors (norms, biases) become float32.

    Returns:
        The same names: of a rounded ``NAME`` the deflated bytes, row after row, as uint8, and
        beside it ``NAME.scale``. Shape: (bytes,), (rows,).
    """
    stored = {}
    for name, tensor in tensors.items():
        numbers = tensor.detach().to("cpu", torch.float32)
        if numbers.dim() < 2:
            stored[name] = numbers.contiguous()
        elif not _ROUNDED.search(name):
            stored[name] = numbers.half().contiguous()
        else:
            scale = numbers.abs().amax(1) / _LARGEST
            divisor = torch.where(scale > 0, scale, 1)[:, None]  # a row of zeros stays one
            whole = (numbers / divisor).round().to(torch.int8)
            deflated = zlib.compress(whole.numpy().tobytes(), zlib.Z_BEST_COMPRESSION)
            stored[name] = torch.from_numpy(np.frombuffer(deflated, np.uint8).copy())
            stored[name + _SCALE] = scale
    return stored


def from_int8(tensors: Mapping[str, Tensor], source: Path) -> dict[str, Tensor]:
    """Undo ``to_int8``: all in float32. A file without 8-bit numbers is returned as it is.

    Args:
        tensors: A file's, by name; versions before stored the whole numbers as they are.
        source: The file, named in errors.

    Raises:
        CheckpointError: If 8-bit numbers are damaged, lack their scales, or have those of something
            else.
    """
    rounded = {
        name
        for name, tensor in tensors.items()
        if tensor.dtype == torch.int8 or (tensor.dtype == torch.uint8 and _ROUNDED.search(name))
    }
    if not rounded:
        return dict(tensors)
    read = {name: tensor.float() for name, tensor in tensors.items() if name not in rounded}
    for name in rounded:
        scale = read.pop(name + _SCALE, None)
        if scale is None or scale.dim() != 1 or not len(scale) or not scale.isfinite().all():
            found = "none" if scale is None else f"shape {tuple(scale.shape)} or not finite"
            raise CheckpointError(
                f"{source}: {name} is stored in 8 bits: expected finite scales, one a row, as "
                f"{name + _SCALE}, found {found}; get the file again"
            )
        whole = _whole_numbers(tensors[name])
        if whole is None or whole.numel() == 0 or whole.numel() % len(scale):
            found = "damaged bytes" if whole is None else f"{whole.numel():,} numbers"
            raise CheckpointError(
                f"{source}: {name} is stored in 8 bits: expected {len(scale):,} rows, as many as "
                f"{name + _SCALE} has, found {found}; get the file again"
            )
        read[name] = whole.float().view(len(scale), -1) * scale[:, None]
    return read


def _whole_numbers(stored: Tensor) -> Tensor | None:
    """Return them in one dimension; None if they are damaged."""
    if stored.dtype == torch.int8:
        return stored.flatten()
    inflate, content = zlib.decompressobj(), stored.numpy().tobytes()
    try:
        inflated = inflate.decompress(content)
    except zlib.error:
        return None
    if not inflate.eof or inflate.unused_data:
        return None
    return torch.from_numpy(np.frombuffer(inflated, np.int8).copy())
