"""Numbers that are not finite are found in tensors of any type and form."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from zh_albert.checkpoints.finite import is_finite, refuse_not_finite
from zh_albert.errors import CheckpointError

FLOATS = [
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.float8_e5m2,
    torch.complex64,
]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("place", [0, 7, -1])
def test_one_number_is_enough(dtype: torch.dtype, value: float, place: int) -> None:
    numbers = torch.linspace(-3, 3, 20)
    assert is_finite(numbers.to(dtype))
    numbers[place] = value
    assert not is_finite(numbers.to(dtype))
    assert not is_finite(numbers.to(dtype).view(4, 5).t())


def test_large_numbers_are_finite_as_long_as_float32_holds_them() -> None:
    largest = torch.finfo(torch.float32).max
    assert is_finite(torch.full((4,), largest))  # the sum of their squares is not
    assert is_finite(torch.full((4,), -largest))
    assert is_finite(torch.full((4,), largest, dtype=torch.float64))
    assert not is_finite(torch.full((4,), 2.0 * largest, dtype=torch.float64))


@pytest.mark.parametrize("tensor", [torch.zeros(0), torch.zeros(3, 0).t(), torch.tensor([1 << 62])])
def test_nothing_and_whole_numbers_are_finite(tensor: torch.Tensor) -> None:
    assert is_finite(tensor)


def test_the_tensor_is_named() -> None:
    tensors = {"a": torch.zeros(2), "b.weight": torch.tensor([0.0, torch.nan])}
    with pytest.raises(CheckpointError, match=r"m\.st: b\.weight: expected finite numbers"):
        refuse_not_finite(tensors, Path("m.st"))
