"""Which layers of a student stand for which of its teacher's, and how far their states are."""

from __future__ import annotations

import torch.nn.functional as F  # noqa: N812
from torch import Tensor


def matched_layers(student_layers: int, teacher_top: int) -> tuple[tuple[int, int], ...]:
    """Pair the layers of a student with those of its teacher, evenly; counted from 1.

    >>> matched_layers(4, 12)
    ((1, 3), (2, 6), (3, 9), (4, 12))
    """
    return tuple(
        (layer, max(1, round(layer * teacher_top / student_layers)))
        for layer in range(1, student_layers + 1)
    )


def unexplained(state: Tensor, wanted: Tensor, mask: Tensor) -> Tensor:
    """Mean squared error over real tokens, as a share of what is wanted's variance. Shape: ().

    1 is what the mean over the batch would get, 0 is perfect.

    Args:
        state: Shape: (batch, length, hidden).
        wanted: Shape: (batch, length, hidden).
        mask: True for real tokens. Shape: (batch, length).
    """
    # Multiplied, not chosen by torch.where: two fifths of the time, there and back.
    real = mask[..., None].float()
    wanted = wanted * real
    mean = wanted.sum((0, 1)) / mask.sum()
    variance = F.mse_loss(wanted, mean * real, reduction="sum")
    error = F.mse_loss(state.float() * real, wanted, reduction="sum")
    return error / variance.clamp(min=1e-6)
