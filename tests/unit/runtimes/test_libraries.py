"""OpenVINO against the network itself."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.exported_networks import batch, heads
from zh_albert.runtimes.libraries import OpenVinoRuntime
from zh_albert.runtimes.onnx_network import (
    onnx_model,
)
from zh_albert.runtimes.runtime import TorchRuntime


@pytest.mark.parametrize("name", heads())
def test_openvino_gives_the_same(name: str) -> None:
    network, outputs = heads()[name]
    runtime = OpenVinoRuntime(onnx_model(network, outputs), "fp32")
    for inputs in (batch(), batch(3, 8)):
        expected = TorchRuntime(network)(inputs)
        np.testing.assert_allclose(runtime(inputs), expected, atol=1e-4, rtol=1e-4)
