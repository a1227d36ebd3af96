"""How far a student is from its teacher."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from zh_albert.distillation.losses import (
    attention_divergence,
    divergence,
    fraction_unexplained,
    logit_error,
)
from zh_albert.model.crf import FORBIDDEN


def test_the_mean_explains_nothing_and_padding_does_not_count() -> None:
    wanted = torch.randn(2, 6, 4)
    mask = torch.ones(2, 6, dtype=torch.bool)
    mask[1, 4:] = False
    wanted[1, 4:] = 1e4
    mean = wanted[mask].mean(0).expand_as(wanted)
    assert fraction_unexplained(mean, wanted, mask).item() == pytest.approx(1, abs=1e-4)
    assert fraction_unexplained(wanted, wanted, mask).item() == 0
    assert fraction_unexplained(wanted + 1e4 * ~mask[..., None], wanted, mask).item() == 0


def test_attention_diverges_only_where_it_differs() -> None:
    theirs = torch.softmax(torch.randn(2, 3, 5, 5), -1)
    mask = torch.ones(2, 5, dtype=torch.bool)
    assert attention_divergence(theirs, theirs, mask).item() == pytest.approx(0, abs=1e-6)
    even = torch.full_like(theirs, 0.2)
    expected = (theirs * (theirs / even).log()).sum(-1).mean().item()
    assert attention_divergence(even, theirs, mask).item() == pytest.approx(expected, rel=1e-4)


def gradient(temperature: float, logits: Tensor, wanted: Tensor) -> Tensor:
    """Return the gradient of the divergence, summed over rows."""
    own = logits.clone().requires_grad_()
    divergence(own, wanted, temperature).sum().backward()
    assert own.grad is not None
    return own.grad


def test_the_same_logits_teach_nothing() -> None:
    logits = torch.randn(4, 7, dtype=torch.float64)
    for temperature in (1.0, 2.0, 20.0):
        assert divergence(logits, logits, temperature).abs().max() == 0
        assert gradient(temperature, logits, logits).abs().max() < 1e-14
        # A constant added to all logits of a row changes no probability.
        assert divergence(logits + 3, logits, temperature).abs().max() < 1e-12
    assert logit_error(logits, logits - 5).abs().max() < 1e-20


def test_at_high_temperatures_logits_are_matched() -> None:
    """Hinton et al. 2015, section 2.1; the squared temperature keeps the gradients' size."""
    torch.manual_seed(0)
    ours, theirs = torch.randn(2, 5, 6, dtype=torch.float64)
    difference = ours - theirs
    limit = (difference - difference.mean(-1, keepdim=True)) / 6
    hot = gradient(1000, ours, theirs)
    assert ((hot - limit).norm() / limit.norm()).item() < 0.01
    sizes = [gradient(temperature, ours, theirs).norm() for temperature in (50, 500)]
    assert abs(sizes[0] / sizes[1] - 1) < 0.05

    own = ours.clone().requires_grad_()
    logit_error(own, theirs).sum().backward()
    torch.testing.assert_close(own.grad, limit)
    at_1000 = divergence(ours, theirs, 1000)
    torch.testing.assert_close(at_1000, logit_error(ours, theirs), rtol=0.01, atol=0)


def test_logits_that_are_forbidden_do_not_count() -> None:
    generator = torch.Generator().manual_seed(0)
    ours, theirs = torch.randn(2, 3, 4, generator=generator)
    wide = [torch.cat([one, torch.full((3, 5), FORBIDDEN)], -1) for one in (ours, theirs)]
    torch.testing.assert_close(logit_error(*wide), logit_error(ours, theirs))
    torch.testing.assert_close(logit_error(wide[0] + 5, wide[0]), torch.zeros(3), atol=1e-3, rtol=0)
