"""How far a student is from its teacher."""

from __future__ import annotations

import pytest
import torch

from zh_albert.distillation.losses import attention_divergence, fraction_unexplained


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
