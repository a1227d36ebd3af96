"""PyTorch in bf16."""

from __future__ import annotations

import numpy as np
import torch

from tests.helpers.exported_networks import batch, heads
from zh_albert.runtimes.runtime import TorchRuntime


def test_torch_in_bf16_is_near_and_leaves_the_network_as_it_is() -> None:
    network, _ = heads()["first"]
    expected = TorchRuntime(network)(batch())
    found = TorchRuntime(network, "bf16")(batch())
    assert 0 < np.abs(found - expected).max() < 0.05 * np.abs(expected).max()
    assert next(network.parameters()).dtype == torch.float32
