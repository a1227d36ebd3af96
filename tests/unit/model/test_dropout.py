"""Our dropout against what PyTorch's promises: shares, scale, gradients, seeds."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from zh_albert.model.dropout import Dropout, dropped


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("probability", [0.1, 0.5, 0.9])
def test_as_many_are_dropped_as_asked_and_the_others_are_scaled(
    probability: float, dtype: torch.dtype
) -> None:
    torch.manual_seed(1)
    result = dropped(torch.ones(301, 333, dtype=dtype), probability)

    kept = result[result != 0].float()
    # 100,233 draws: 4 standard deviations are 0.004 to 0.006
    assert 1 - kept.numel() / result.numel() == pytest.approx(probability, abs=0.007)
    assert kept.unique().numel() == 1
    assert kept[0].item() == pytest.approx(1 / (1 - probability), rel=0.005)


def test_neighbours_are_drawn_independently() -> None:
    """Four numbers are cut from one draw: none may tell of the next, in any of the four places."""
    torch.manual_seed(2)
    gone = (dropped(torch.ones(50_000, 4), 0.5) == 0).double()
    shares = gone.mean(0)
    assert torch.allclose(shares, torch.full((4,), 0.5, dtype=torch.double), atol=0.01)
    assert torch.allclose(torch.corrcoef(gone.T), torch.eye(4, dtype=torch.double), atol=0.02)


def test_gradients_pass_where_states_do() -> None:
    states = torch.randn(7, 5, requires_grad=True)
    result = dropped(states, 0.4)
    result.sum().backward()  # type: ignore[no-untyped-call]
    assert states.grad is not None
    assert torch.equal(states.grad * states, result)


def test_the_same_seed_drops_the_same() -> None:
    states = torch.randn(3, 11)
    torch.manual_seed(3)
    first, second = dropped(states, 0.5), dropped(states, 0.5)
    torch.manual_seed(3)
    assert torch.equal(dropped(states, 0.5), first)
    assert not torch.equal(second, first)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3,), (2, 0, 4)])
def test_any_shape(shape: tuple[int, ...]) -> None:
    assert dropped(torch.ones(shape), 0.5).shape == shape


def test_it_stands_in_for_the_module_of_pytorch() -> None:
    states = torch.randn(4, 4)
    module = Dropout(0.5)
    assert isinstance(module, nn.Dropout)
    assert torch.equal(module.eval()(states), states)
    module.train()
    assert torch.equal(dropped(states, 0.0), states)
    assert torch.equal(dropped(states, 1.0), torch.zeros(4, 4))
    assert (module(torch.ones(1000)) == 0).any()
