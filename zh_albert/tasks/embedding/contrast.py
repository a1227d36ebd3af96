"""Losses of sentence vectors: the text that means the same is to be found, a teacher followed."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor


def contrastive_loss(
    first: Tensor,
    second: Tensor,
    ids: Tensor,
    *,
    temperature: float = 0.05,
    negatives: Tensor | None = None,
    negative_ids: Tensor | None = None,
) -> Tensor:
    """Cross-entropy of each text's cosines with all second texts, and the other way round.

    A text is never its own negative: if two pairs of a batch share a text, the partner of one is
    not a negative of the other.

    Args:
        first: Vectors of the first texts. Shape: (pairs, hidden).
        second: Vectors of the second texts. Shape: (pairs, hidden).
        ids: Ids of the texts; equal texts have equal ids. Shape: (pairs, 2).
        temperature: Divisor of the cosines; small values emphasise the hardest negatives.
        negatives: Further texts, none of which means the same as a first text whose id it does not
            share. Shape: (negatives, hidden).
        negative_ids: Their ids. Shape: (negatives,).

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
    wider = cosines
    if negatives is not None and negative_ids is not None:
        more = F.normalize(first, dim=-1) @ F.normalize(negatives, dim=-1).T / temperature
        same = (ids[:, :, None] == negative_ids).any(1)
        wider = torch.cat([cosines, more.masked_fill(same, -math.inf)], dim=1)
    targets = torch.arange(len(ids), device=ids.device)
    one_way, other_way = (
        F.cross_entropy(table, targets, reduction="sum") for table in (wider, cosines.T)
    )
    return (one_way + other_way) / 2


def taught_loss(ours: Tensor, theirs: Tensor, *, temperature: float = 0.05) -> Tensor:
    """Return how far vectors are from a teacher's, summed over the texts. Shape: ().

    One minus the cosine of each text's two vectors, if they have a common width, and the divergence
    of its cosines with the other texts, as a softmax, from the teacher's.

    Args:
        ours: Shape: (texts, width).
        theirs: Shape: (texts, teacher's width).
        temperature: Divisor of the cosines between texts.
    """
    ours, theirs = F.normalize(ours, dim=-1), F.normalize(theirs, dim=-1)
    loss = ours.new_zeros(())
    if ours.shape == theirs.shape:
        loss = loss + (1 - (ours * theirs).sum(-1)).sum()
    if len(ours) < 2:
        return loss
    own = torch.eye(len(ours), dtype=torch.bool, device=ours.device)
    ours_with, theirs_with = (
        (one @ one.T / temperature)[~own].view(len(one), -1).log_softmax(-1)
        for one in (ours, theirs)
    )
    return loss + F.kl_div(ours_with, theirs_with, reduction="sum", log_target=True)
