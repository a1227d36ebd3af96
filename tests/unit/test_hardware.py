"""Measured facts about the machine."""

from __future__ import annotations

import time

import pytest
import torch
from torch import Tensor

from zh_albert.hardware import is_bf16_faster


@pytest.mark.parametrize(
    ("claimed", "slow", "faster"),
    [
        (True, torch.float32, True),
        (True, torch.bfloat16, False),  # such CPUs exist: Intel's with AVX-512's bf16 alone
        (False, torch.float32, False),
    ],
)
def test_bf16_is_tried_where_the_cpu_claims_it(
    claimed: bool, slow: torch.dtype, faster: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def linear(rows: Tensor, matrix: Tensor) -> Tensor:
        time.sleep(0.002 if rows.dtype is slow else 0)
        return rows

    for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"):
        monkeypatch.setattr(torch.cpu, name, lambda: claimed)
    monkeypatch.setattr(torch.nn.functional, "linear", linear)
    is_bf16_faster.cache_clear()
    try:
        assert is_bf16_faster() is faster
    finally:
        is_bf16_faster.cache_clear()
