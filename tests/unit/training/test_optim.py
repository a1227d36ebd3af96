"""Optimizers."""

from __future__ import annotations

import torch
from torch import nn

from tests.helpers.regression import (
    CONFIG,
    network,
)
from zh_albert.training.optim import Lamb, build_optimizer


def test_a_lamb_step_has_the_length_of_its_tensor() -> None:
    weight = nn.Parameter(torch.tensor([[3.0, 4.0]]))
    optimizer = Lamb([weight], lr=0.1, weight_decay=0.0)
    weight.grad = torch.tensor([[100.0, -100.0]])
    before = weight.detach().clone()
    optimizer.step()
    # |w| = 5, so a step of lr 0.1 moves by 0.5, along the sign of the gradient.
    expected = before - 0.1 * 5.0 * torch.tensor([[1.0, -1.0]]) / 2**0.5
    torch.testing.assert_close(weight.detach(), expected, rtol=1e-4, atol=1e-4)


def test_only_matrices_are_decayed() -> None:
    groups = build_optimizer(network(), CONFIG).param_groups
    assert [(len(g["params"]), g["weight_decay"]) for g in groups] == [(2, 0.01), (2, 0.0)]
