"""ONNX graphs of LSTMs against the network itself, in both libraries that run them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import numpy as np
import onnx
import pytest
import torch

from tests.helpers.exported_networks import CONFIG, batch, heads
from zh_albert.runtimes.libraries import OnnxRuntime, OpenVinoRuntime
from zh_albert.runtimes.onnx_graph import Opset
from zh_albert.runtimes.onnx_network import onnx_model
from zh_albert.runtimes.runtime import TorchRuntime
from zh_albert.tokenization.encoding import PaddedBatch

LSTM = replace(CONFIG, layer="lstm", num_hidden_layers=2)
EVERY_OPSET = pytest.mark.parametrize("opset", get_args(Opset))


@EVERY_OPSET
@pytest.mark.parametrize("name", heads())
def test_every_head_gives_the_same_in_onnx(name: str, opset: Opset) -> None:
    network, outputs = heads(LSTM)[name]
    content = onnx_model(network, outputs, opset=opset)
    onnx.checker.check_model(onnx.load_from_string(content), full_check=True)
    runtime = OnnxRuntime(content)
    for inputs in (batch(), batch(1, 5), batch(2, LSTM.max_position_embeddings)):
        expected = TorchRuntime(network).outputs(inputs)
        for found, wanted in zip(runtime.outputs(inputs), expected, strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", ["first", "mean", "softmax"])
def test_openvino_gives_the_same_of_padded_texts(name: str) -> None:
    network, outputs = heads(LSTM)[name]
    runtime = OpenVinoRuntime(onnx_model(network, outputs), "fp32")
    for inputs in (batch(), batch(3, 8)):
        assert not inputs.mask.all()
        expected = TorchRuntime(network)(inputs)
        np.testing.assert_allclose(runtime(inputs), expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("changes", [{}, {"embedding_layout": "brightmart"}])
def test_a_text_is_the_same_to_the_bit_alone_and_among_others(changes: dict[str, Any]) -> None:
    for name in ("first", "mean", "softmax"):
        network, outputs = heads(replace(LSTM, **changes))[name]
        runtime = OnnxRuntime(onnx_model(network, outputs))
        ids = np.random.default_rng(0).integers(8, 40, (6, 11))
        whole = PaddedBatch(ids, np.zeros_like(ids), np.ones_like(ids, dtype=bool))
        together = runtime(whole)
        for row in range(6):
            one = PaddedBatch(*(numbers[row : row + 1] for numbers in whole))
            np.testing.assert_array_equal(runtime(one), together[row : row + 1])


@EVERY_OPSET
@pytest.mark.parametrize(("precision", "within"), [("fp16", 0.005), ("int8", 0.03)])
def test_smaller_files_store_matrices_in_few_bits_and_stay_near(
    precision: Any, within: float, opset: Opset
) -> None:
    network, outputs = heads(LSTM)["softmax"]
    content = onnx_model(network, outputs, precision=precision, opset=opset)
    kinds = {
        tensor.name: tensor.data_type
        for tensor in onnx.load_from_string(content).graph.initializer
        if "cells.weight" in tensor.name and not tensor.name.endswith(".scale")
    }
    small = {"fp16": onnx.TensorProto.FLOAT16, "int8": onnx.TensorProto.INT8}[precision]
    assert len(kinds) == 2 * 2 * LSTM.num_hidden_layers
    assert set(kinds.values()) == {small}
    expected = TorchRuntime(network)(batch())
    found = OnnxRuntime(content, precision)(batch())
    assert 0 < np.abs(found - expected).max() < within * np.abs(expected).max()


def test_the_gates_keep_their_order() -> None:
    """A cell whose forget gate alone is open keeps what it has; another order would lose it."""
    network, outputs = heads(replace(LSTM, num_hidden_layers=2))["encoder"]
    cells = network.encoder.lstm[0].cells
    units = cells.hidden_size
    with torch.no_grad():
        for gate, value in enumerate((-9.0, 9.0, 3.0, 9.0)):
            cells.bias_ih_l0[gate * units : (gate + 1) * units] = value
    expected = TorchRuntime(network)(batch())
    found = OnnxRuntime(onnx_model(network, outputs))(batch())
    np.testing.assert_allclose(found, expected, atol=1e-5)
