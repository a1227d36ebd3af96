"""Int8 storage of weights: integers from -90 to 90, deflated, with a scale for each row.

A row of a matrix produces one output and a row of a table is one entry, so each has a range of its
own. Most numbers of a row are far from its largest, so deflated they take 6.8 bits each; with
integers up to 127 they take 7.1 bits and dev scores are the same (docs/experiments/int8.md).
Only the layers, the pooler and the word table are stored in int8: they are nearly all of the
numbers, and for the rest (positions, the embeddings' projection, heads) the rounding error costs
more than the bytes are worth. In memory a model is always floating point; only the file is int8.
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
from zh_albert.plain_files import how_to_raise, unpacked_limit

_SCALE = ".scale"  # suffix of the name of a tensor's scales
_LARGEST = 90
_ROUNDED = re.compile(r"(^|\.)((attention|ffn)\.\d+\.\w+|embeddings\.word|pooler)\.weight$")


def to_int8(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Quantize the large matrices of a model; other matrices become float16.

    Args:
        tensors: By our names. Vectors (norms, biases) become float32.

    Returns:
        The same names: for a quantized ``NAME`` the deflated bytes, row by row, as uint8, and
        ``NAME.scale``. Shapes: (bytes,), (rows,).
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
            divisor = torch.where(scale > 0, scale, 1)[:, None]  # a row may be all zeros
            integers = (numbers / divisor).round().to(torch.int8)
            deflated = zlib.compress(integers.numpy().tobytes(), zlib.Z_BEST_COMPRESSION)
            stored[name] = torch.from_numpy(np.frombuffer(deflated, np.uint8).copy())
            stored[name + _SCALE] = scale
    return stored


def from_int8(tensors: Mapping[str, Tensor], source: Path) -> dict[str, Tensor]:
    """Undo ``to_int8``: all in float32. Tensors of a file without int8 weights stay as they are.

    Args:
        tensors: A file's, by name; format version 1 stored the integers without deflating them.
        source: The file, named in errors.

    Raises:
        CheckpointError: If int8 weights are damaged, lack their scales, have those of another
            tensor, or all of them together unpack to more than ``unpacked_limit``.
    """
    quantized = {
        name
        for name, tensor in tensors.items()
        if tensor.dtype == torch.int8 or (tensor.dtype == torch.uint8 and _ROUNDED.search(name))
    }
    if not quantized:
        return dict(tensors)
    read = {name: tensor.float() for name, tensor in tensors.items() if name not in quantized}
    limit = left = unpacked_limit(sum(tensor.nbytes for tensor in tensors.values()))
    for name in sorted(quantized):
        scale = read.pop(name + _SCALE, None)
        if scale is None or scale.dim() != 1 or not len(scale) or not scale.isfinite().all():
            found = "none" if scale is None else f"shape {tuple(scale.shape)} or not finite"
            raise CheckpointError(
                f"{source}: {name} is stored in int8: expected finite scales, one per row, as "
                f"{name + _SCALE}, found {found}; download the file again"
            )
        integers = _integers_of(tensors[name], left)
        if integers is not None and (left := left - len(integers)) < 0:
            raise CheckpointError(
                f"{source}: {name} is stored in int8: expected at most {limit:,} numbers in the "
                f"file, found more; {how_to_raise()}"
            )
        if integers is None or integers.numel() == 0 or integers.numel() % len(scale):
            found = "damaged bytes" if integers is None else f"{integers.numel():,} numbers"
            raise CheckpointError(
                f"{source}: {name} is stored in int8: expected {len(scale):,} rows, as many as "
                f"{name + _SCALE} has, found {found}; download the file again"
            )
        read[name] = integers.float().view(len(scale), -1).mul_(scale[:, None])
    return read


def _integers_of(stored: Tensor, limit: int) -> Tensor | None:
    """Return the integers as one dimension, ``limit`` + 1 if there are more; None if damaged."""
    if stored.dtype == torch.int8:
        return stored.flatten()
    inflate, content = zlib.decompressobj(), stored.numpy().tobytes()
    try:
        inflated = inflate.decompress(content, limit + 1)
    except zlib.error:
        return None
    if len(inflated) <= limit and (not inflate.eof or inflate.unused_data):
        return None
    return torch.from_numpy(np.frombuffer(inflated, np.int8).copy())
