"""Fixed scales of int8, measured on texts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
import torch

from tests.helpers.exported_networks import CONFIG, batch, heads
from zh_albert.errors import ConfigError, DataError
from zh_albert.runtimes.calibration import measuring_ranges
from zh_albert.runtimes.exported import network_files
from zh_albert.runtimes.libraries import OnnxRuntime
from zh_albert.runtimes.onnx_graph import Opset
from zh_albert.runtimes.onnx_network import onnx_model
from zh_albert.runtimes.runtime import TorchRuntime
from zh_albert.tokenization.encoding import PaddedBatch

GROUPED = replace(CONFIG, num_hidden_layers=3, num_hidden_groups=2)


def calibrated(network: Any) -> dict[str, float]:
    with measuring_ranges(network) as ranges:
        for rows in (3, 9):
            TorchRuntime(network).outputs(batch(rows, 12))
    return ranges


@pytest.mark.parametrize("opset", get_args(Opset))
@pytest.mark.parametrize("name", ["first", "mean", "softmax"])
def test_calibrated_integers_give_nearly_the_same(name: str, opset: Opset) -> None:
    network, outputs = heads(GROUPED)[name]
    ranges = calibrated(network)
    runtime = OnnxRuntime(
        onnx_model(network, outputs, precision="int8", opset=opset, ranges=ranges)
    )
    inputs = batch(4, 12)
    expected = TorchRuntime(network)(inputs)
    found = runtime(inputs)
    assert 0 < np.linalg.norm(found - expected) < 0.12 * np.linalg.norm(expected)


def test_each_use_of_a_shared_block_has_its_own_range() -> None:
    network, _ = heads(GROUPED)["mean"]
    ranges = calibrated(network)
    block = "encoder.attention.0."  # of the first two layers
    assert {key for key in ranges if key.startswith(f"{block}query")} == {
        f"{block}query@0",
        f"{block}query@1",
    }
    assert ranges[f"{block}query@0"] == ranges[f"{block}key@0"] == ranges[f"{block}value@0"]
    assert ranges[f"{block}query@0"] != ranges[f"{block}query@1"]


def test_padding_does_not_count() -> None:
    network, _ = heads(GROUPED)["mean"]
    some = batch(2, 8)
    real = np.arange(8) < np.array([[8], [3]])
    ranges = []
    for pad in (0, 7):  # whatever token stands there
        ids = np.where(real, some.token_ids, pad)
        with measuring_ranges(network) as found:
            TorchRuntime(network).outputs(PaddedBatch(ids, np.zeros_like(ids), real))
        ranges.append(found)
    assert ranges[0] == pytest.approx(ranges[1], rel=1e-5)


def test_what_cannot_be_calibrated_is_refused() -> None:
    network, outputs = heads(GROUPED)["mean"]
    with pytest.raises(DataError, match="found none"), measuring_ranges(network):
        pass
    with pytest.raises(ConfigError, match="leave it out for onnx fp32"):
        network_files(network, outputs, "onnx", "fp32", ranges={})
    assert not [hook for part in network.modules() for hook in part._forward_pre_hooks]
    with torch.no_grad():
        TorchRuntime(network).outputs(batch())


def test_lstms_have_nothing_to_calibrate() -> None:
    network, _ = heads(replace(CONFIG, layer="lstm"))["mean"]
    with pytest.raises(ConfigError, match="calibration: expected an encoder of transformer"):
        calibrated(network)
