"""Rounding of matrices to few bits: integers, and a scale for each row or group of its columns.

Files store weights so, and training that imitates the rounding uses the same functions, so that
what it has trained is what a file restores.
"""

from __future__ import annotations

import math
import re

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from zh_albert.errors import ConfigError

# Of 8 bits: most numbers of a row are far from its largest, so deflated they take 6.8 bits each;
# up to 127 they take 7.1 bits and dev scores are the same (docs/experiments/int8.md).
_LARGEST_OF_8 = 90
# Share of a row's largest number that becomes the largest integer. 1 is first, because the first of
# equals is taken, and it is exact for a matrix that is already rounded.
_CLIPPED = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6)
_ROUNDED = re.compile(
    r"(^|\.)(((attention|ffn)\.\d+\.(?!norm\b)\w+|embeddings\.word|pooler)\.weight"
    r"|lstm\.\d+\.cells\.weight_[ih]h_l0(_reverse)?)$"
)


def is_rounded(name: str) -> bool:
    """Return whether files in few bits round the parameter of that name.

    They round the layers, the pooler and the word table: nearly all of the numbers. For the rest
    (positions, the embeddings' projection, heads) the error costs more than the bytes are worth.
    """
    return _ROUNDED.search(name) is not None


def rounded(weight: Tensor, bits: int = 8, group: int | None = None) -> tuple[Tensor, Tensor]:
    """Round a matrix to integers of ``bits`` bits: ``weight`` ≈ ``dequantized(integers, scales)``.

    With 8 bits and a scale for each row, integers go from -90 to 90 and the largest of a row
    decides the scale. Otherwise they go up to 2**(bits-1) - 1 (8 bits: 90), and the scale is the
    one of least squared error among a few, of which the smaller clip the largest numbers; it has
    8 significant bits (a bfloat16), so that its products with the integers are exact.

    Zeros stay zeros. A matrix that has been rounded is returned as it is: the same integers and
    scales (with 8 bits and a scale for each row, scales up to the last binary digit).

    Args:
        weight: Shape: (rows, columns); of floating point.
        bits: Of an integer, 2 to 8.
        group: The most columns that share a scale; a row is cut into as few groups as that allows,
            of equal size but for the last, which may be shorter. None: a row has one scale.

    Returns:
        int8, shape (rows, columns); float32, shape (rows,) or (rows, groups).

    Raises:
        ConfigError: If there is no such number of bits, or a group is empty.
    """
    if not 2 <= bits <= 8:
        raise ConfigError(f"bits must be 2 to 8, got {bits}")
    if group is not None and group < 1:
        raise ConfigError(f"group must be at least 1 column, got {group}")
    numbers = weight.detach().float()
    largest = _LARGEST_OF_8 if bits == 8 else 2 ** (bits - 1) - 1
    if bits == 8 and group is None:
        scales = numbers.abs().amax(1) / largest
        return _divided(numbers, scales).to(torch.int8), scales
    columns = numbers.shape[1]
    parts = _in_groups(numbers, math.ceil(columns / group) if group else 1)
    top = parts.abs().amax(-1) / largest
    tried = torch.stack([(top * share).bfloat16().float() for share in _CLIPPED])
    errors = torch.stack(
        [(_divided(parts, s, largest) * s[..., None] - parts).square().sum(-1) for s in tried]
    )
    scales = tried.gather(0, errors.argmin(0, keepdim=True)).squeeze(0)
    integers = _divided(parts, scales, largest).flatten(1)[:, :columns].to(torch.int8)
    return integers.contiguous(), scales.squeeze(1) if group is None else scales


def dequantized(integers: Tensor, scales: Tensor) -> Tensor:
    """Return the numbers that ``rounded`` stands for, in float32. Shape: (rows, columns).

    Args:
        integers: Shape: (rows, columns).
        scales: Shape: (rows,) or (rows, groups).
    """
    if scales.dim() == 1:
        return integers.float() * scales[:, None]
    numbers = _in_groups(integers.float(), scales.shape[1]) * scales[..., None]
    return numbers.flatten(1)[:, : integers.shape[1]].contiguous()


def group_size(columns: int, groups: int) -> int | None:
    """Return the columns of a group (the last may have fewer); None if they cannot be cut so."""
    size = math.ceil(columns / groups)
    return size if math.ceil(columns / size) == groups else None


def _in_groups(numbers: Tensor, groups: int) -> Tensor:
    """Cut rows, the last group padded by 0: (rows, columns) → (rows, groups, columns of one)."""
    rows, columns = numbers.shape
    size = group_size(columns, groups)
    assert size is not None, f"{columns} columns in {groups} groups"
    return F.pad(numbers, (0, groups * size - columns)).view(rows, groups, size)


def _divided(numbers: Tensor, scales: Tensor, largest: int | None = None) -> Tensor:
    """Return the nearest integers up to ``largest``, as floats. Shape: that of ``numbers``."""
    divisor = torch.where(scales > 0, scales, 1)[..., None]  # a row may be all zeros
    integers = (numbers / divisor).round()
    return integers if largest is None else integers.clamp(-largest, largest)
