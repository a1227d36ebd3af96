"""Storage of weights in 8 bits or fewer: integers, deflated, with a scale for each row.

A row of a matrix produces one output and a row of a table is one entry, so each has a range of its
own; in few bits also groups of a row's columns may have. Which matrices are rounded, and how, is
said in ``zh_albert.model.rounding``. An integer takes a byte also where it has fewer bits: deflated
that is as small as packed bits are (4 bits of `news`: 3.50 MB and 3.48), and one form for all.
In memory a model is always floating point; only the file has integers.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from zh_albert.errors import CheckpointError
from zh_albert.files.plain_files import how_to_raise, unpacked_limit
from zh_albert.model.rounding import dequantized, group_size, is_rounded, rounded

_SCALE = ".scale"  # suffix of the name of a tensor's scales
# Repetitions, which the default looks for, are chance among integers; without them 4 bits take an
# eighth less, in a tenth of the time. The first still finds runs of zeros.
_STRATEGIES = (zlib.Z_RLE, zlib.Z_HUFFMAN_ONLY)


def to_int8(
    tensors: Mapping[str, Tensor], *, bits: int = 8, group: int | None = None
) -> dict[str, Tensor]:
    """Quantize the large matrices of a model; other matrices become float16.

    Args:
        tensors: By our names. Vectors (norms, biases) become float32.
        bits: Of an integer, 2 to 8; see ``rounded``.
        group: The most columns that share a scale; None: a row has one.

    Returns:
        The same names: for a quantized ``NAME`` the deflated bytes, row by row, as uint8, and
        ``NAME.scale``, float32, or bfloat16 where that is exact (in fewer than 8 bits or groups).
        Shapes: (bytes,), (rows,) or (rows, groups).

    Raises:
        ConfigError: See ``rounded``.
    """
    is_default = bits == 8 and group is None
    stored = {}
    for name, tensor in tensors.items():
        numbers = tensor.detach().to("cpu", torch.float32)
        if numbers.dim() < 2:
            stored[name] = numbers.contiguous()
        elif not is_rounded(name):
            stored[name] = numbers.half().contiguous()
        else:
            integers, scales = rounded(numbers, bits, group)
            content = integers.numpy().tobytes()
            # The default strategy is the one that older files have.
            tried = (zlib.Z_DEFAULT_STRATEGY,) if is_default else _STRATEGIES
            deflated = min((_deflated(content, strategy) for strategy in tried), key=len)
            stored[name] = torch.from_numpy(np.frombuffer(deflated, np.uint8).copy())
            stored[name + _SCALE] = scales if is_default else scales.bfloat16()
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
        if tensor.dtype == torch.int8 or (tensor.dtype == torch.uint8 and is_rounded(name))
    }
    if not quantized:
        return dict(tensors)
    read = {name: tensor.float() for name, tensor in tensors.items() if name not in quantized}
    limit = left = unpacked_limit(sum(tensor.nbytes for tensor in tensors.values()))
    for name in sorted(quantized):
        scale = read.pop(name + _SCALE, None)
        if (
            scale is None
            or scale.dim() not in (1, 2)
            or not scale.numel()
            or not scale.isfinite().all()
        ):
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
        whole = integers.view(len(scale), -1)
        if scale.dim() == 2 and group_size(whole.shape[1], scale.shape[1]) is None:
            raise CheckpointError(
                f"{source}: {name} is stored in int8: expected scales of groups of its "
                f"{whole.shape[1]:,} columns as {name + _SCALE}, found {scale.shape[1]:,} a row; "
                "download the file again"
            )
        read[name] = dequantized(whole, scale)
    return read


def _deflated(content: bytes, strategy: int) -> bytes:
    deflate = zlib.compressobj(zlib.Z_BEST_COMPRESSION, strategy=strategy)
    return deflate.compress(content) + deflate.flush()


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
