"""Losses between a student and its teacher: logits, hidden states, attention."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from zh_albert.model.crf import FORBIDDEN


def divergence(logits: Tensor, soft_targets: Tensor, temperature: float) -> Tensor:
    """Return KL(teacher || student) of each row, in nats, times the squared temperature.

    Both distributions are softened by the temperature; its square keeps the scale of the gradients.

    Args:
        logits: The student's. Shape: (…, logits).
        soft_targets: The teacher's logits, of the same shape.
        temperature: Above 1 flattens both distributions.

    Returns:
        Shape: (…).

    Source: Hinton et al. 2015 (arXiv:1503.02531), section 2.
    """
    student, teacher = ((x / temperature).log_softmax(-1) for x in (logits, soft_targets))
    terms = F.kl_div(student, teacher, reduction="none", log_target=True)
    return terms.sum(-1) * temperature**2


def logit_error(logits: Tensor, soft_targets: Tensor) -> Tensor:
    """Return half the mean squared difference of centred logits, of each row.

    It is what ``divergence`` becomes at high temperatures (Hinton et al. 2015, section 2.1); a
    constant added to all logits of a row changes neither, nor do logits that are ``FORBIDDEN``.

    Args:
        logits: The student's. Shape: (…, logits).
        soft_targets: The teacher's, of the same shape.

    Returns:
        Shape: (…).
    """
    there = soft_targets > FORBIDDEN / 2
    count = there.sum(-1).clamp(min=1)
    difference = (logits - soft_targets) * there
    centred = (difference - (difference.sum(-1) / count)[..., None]) * there
    return centred.square().sum(-1) / count / 2


def fraction_unexplained(state: Tensor, target: Tensor, mask: Tensor) -> Tensor:
    """Return the fraction of variance unexplained: squared error over the target's variance. Shape:
    ().

    A prediction of the mean over the batch scores 1, a perfect one 0.

    Args:
        state: Shape: (batch, length, hidden).
        target: Shape: (batch, length, hidden).
        mask: True for real tokens. Shape: (batch, length).
    """
    # Multiplication takes two fifths of the time of torch.where, forward and backward.
    real = mask[..., None].float()
    target = target * real
    mean = target.sum((0, 1)) / mask.sum()
    variance = F.mse_loss(target, mean * real, reduction="sum")
    error = F.mse_loss(state.float() * real, target, reduction="sum")
    return error / variance.clamp(min=1e-6)


def attention_divergence(ours: Tensor, theirs: Tensor, mask: Tensor) -> Tensor:
    """Return the mean Kullback-Leibler divergence of the student's attention from the teacher's.
    Shape: ().

    Source: Wang et al. 2020, MiniLM (arXiv:2002.10957), section 3.1.

    Args:
        ours: Probabilities of the student. Shape: (batch, heads, length, length).
        theirs: Probabilities of the teacher. Shape: (batch, heads, length, length).
        mask: True for real tokens. Shape: (batch, length).
    """
    tiny = 1e-6
    target = theirs.float()
    terms = target * (target.clamp(min=tiny).log() - ours.float().clamp(min=tiny).log())
    per_token = terms.sum(-1).mean(1)  # (batch, length)
    return torch.where(mask, per_token, 0.0).sum() / mask.sum()
