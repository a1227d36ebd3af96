"""The contrastive loss: in-batch classification of the text that means the same."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor


def contrastive_loss(
    first: Tensor, second: Tensor, ids: Tensor, *, temperature: float = 0.05
) -> Tensor:
    """Cross-entropy of each text's cosines with all second texts, and the other way round.

    A text is never its own negative: if two pairs of a batch share a text, the partner of one is
    not a negative of the other.

    Args:
        first: Vectors of the first texts. Shape: (pairs, hidden).
        second: Vectors of the second texts. Shape: (pairs, hidden).
        ids: Ids of the texts; equal texts have equal ids. Shape: (pairs, 2).
        temperature: Divisor of the cosines; small values emphasise the hardest negatives.

    Returns:
        The mean of both directions, summed over the pairs. Shape: (). Zero for a single pair.

    Source: Gao et al. 2021 (arXiv:2104.08821), equations 1 and 4; both directions as in Radford et
    al. 2021 (arXiv:2103.00020).
    """
    cosines = F.normalize(first, dim=-1) @ F.normalize(second, dim=-1).T / temperature
    # For pairs i and j: whether pair i contains each of the two texts of pair j.
    shared = (ids[:, None, :, None] == ids[None, :, None, :]).flatten(2).any(-1)
    own = torch.eye(len(ids), dtype=torch.bool, device=ids.device)
    cosines = cosines.masked_fill(shared & ~own, -math.inf)
    targets = torch.arange(len(ids), device=ids.device)
    one_way, other_way = (
        F.cross_entropy(table, targets, reduction="sum") for table in (cosines, cosines.T)
    )
    return (one_way + other_way) / 2
