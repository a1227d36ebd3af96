"""Check that stored numbers are finite; a single NaN in the weights makes every answer NaN."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from zh_albert.errors import CheckpointError

_LARGEST = torch.finfo(torch.float32).max  # models compute in it, whatever is stored


def refuse_not_finite(tensors: Mapping[str, Tensor], source: Path) -> None:
    """Check that all numbers are finite, also as float32.

    Args:
        tensors: By their names in the file; those of whole numbers pass.
        source: The file, named in errors.

    Raises:
        CheckpointError: Names the first tensor with NaN, infinity or a number beyond float32.
    """
    for name, tensor in tensors.items():
        if not is_finite(tensor):
            raise CheckpointError(
                f"{source}: {name}: expected finite numbers, found NaN or infinity; the file is "
                "damaged or of a training that diverged: get it again, or save an earlier state"
            )


def is_finite(tensor: Tensor) -> bool:
    """Return whether all numbers of a tensor are finite as float32."""
    if not tensor.numel() or not (tensor.is_floating_point() or tensor.is_complex()):
        return True
    if tensor.dtype == torch.float32 and tensor.is_contiguous():
        flat = tensor.detach().view(-1)
        # One pass without a copy. The sum of squares of finite numbers can overflow, too.
        if torch.dot(flat, flat).isfinite():
            return True
    if tensor.is_complex() or tensor.dtype.itemsize == 1:  # no minimum is defined
        return bool(
            tensor.to(torch.complex64 if tensor.is_complex() else torch.float32).isfinite().all()
        )
    return all(abs(float(end)) <= _LARGEST for end in tensor.detach().aminmax())
