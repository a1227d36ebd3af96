"""Matrices stored in 8 bits: whole numbers from -127 to 127, and a scale for each row.

A row of a matrix makes one output, a row of a table is one entry, so each has a range of its own.
Only the layers and the vocabulary are stored so: they are nearly all of the numbers, and of the
rest (positions, the embeddings' projection, heads) rounding costs more than its bytes are worth.
In memory a model is always floating point: these two functions stand between it and the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from zh_albert.errors import CheckpointError

_SCALE = ".scale"  # added to the name of what it belongs to
_LARGEST = 127
_ROUNDED = re.compile(r"(^|\.)((attention|ffn)\.\d+\.\w+|embeddings\.word|pooler)\.weight$")


def to_eight_bits(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Round the large matrices among a model's tensors; other matrices become float16.

    Args:
        tensors: By our names. Vectors (norms, biases) become float32.

    Returns:
        The same names, and ``NAME.scale`` beside each rounded ``NAME``. Shape: (rows,).
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
            stored[name] = (numbers / divisor).round().to(torch.int8)
            stored[name + _SCALE] = scale
    return stored


def from_eight_bits(tensors: Mapping[str, Tensor], source: Path) -> dict[str, Tensor]:
    """Undo ``to_eight_bits``: all in float32. A file without 8-bit numbers is returned as it is.

    Args:
        tensors: A file's, by name.
        source: The file, named in errors.

    Raises:
        CheckpointError: If 8-bit numbers lack their scales, or have those of something else.
    """
    if all(tensor.dtype != torch.int8 for tensor in tensors.values()):
        return dict(tensors)
    read = {name: tensor.float() for name, tensor in tensors.items()}
    for name, tensor in tensors.items():
        if tensor.dtype != torch.int8:
            continue
        scale = read.pop(name + _SCALE, None)
        expected = tensor.shape[:1]
        if scale is None or scale.shape != expected or not scale.isfinite().all():
            found = "none" if scale is None else f"shape {tuple(scale.shape)} or not finite"
            raise CheckpointError(
                f"{source}: {name} is stored in 8 bits: expected {tuple(expected)} finite scales "
                f"as {name + _SCALE}, found {found}; get the file again"
            )
        read[name] *= scale[:, None]
    return read
