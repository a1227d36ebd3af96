"""ONNX graphs against the network itself, and what they store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pytest
import torch

from tests.helpers.exported_networks import CONFIG, VARIANTS, batch, heads
from zh_albert.distillation.teacher import LayerStates, layer_states
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.runtimes.libraries import OnnxRuntime
from zh_albert.runtimes.onnx_network import onnx_model
from zh_albert.runtimes.runtime import TorchRuntime
from zh_albert.tokenization.encoding import PaddedBatch


@pytest.mark.parametrize("name", heads())
def test_every_head_gives_the_same_in_onnx(name: str) -> None:
    network, outputs = heads()[name]
    runtime = OnnxRuntime(onnx_model(network, outputs))
    for inputs in (batch(), batch(1, 5), batch(2, CONFIG.max_position_embeddings)):
        expected = TorchRuntime(network)(inputs)
        np.testing.assert_allclose(runtime(inputs), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("changes", VARIANTS)
def test_every_variant_of_the_encoder_gives_the_same_in_onnx(changes: dict[str, Any]) -> None:
    for name in ("first", "softmax"):
        network, outputs = heads(replace(CONFIG, **changes))[name]
        runtime = OnnxRuntime(onnx_model(network, outputs))
        expected = TorchRuntime(network)(batch())
        np.testing.assert_allclose(runtime(batch()), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("changes", VARIANTS)
@pytest.mark.parametrize("int8", [False, True])
def test_each_parameter_is_stored_once_however_many_layers_use_it(
    changes: dict[str, Any], int8: bool
) -> None:
    network, outputs = heads(replace(CONFIG, **changes))["first"]
    stored = onnx.load_from_string(onnx_model(network, outputs, int8=int8)).graph.initializer
    names = [one.name.removesuffix(".int8") for one in stored if "scale" not in one.name]
    # Biases of keys have no effect, those of values are part of another.
    needed = [
        n for n, _ in network.named_parameters() if not n.endswith(("key.bias", "value.bias"))
    ]
    weights = {name: sum(1 for n in names if n == name) for name in needed}
    assert set(weights.values()) == {1}
    others = [one for one in stored if one.name.startswith("constant")]
    scales = [one for one in stored if one.name.endswith(".scale")]
    assert len(stored) == len(weights) + len(others) + len(scales)
    assert sum(np.prod(one.dims) for one in others) < 30


def test_eight_bits_multiply_integers_in_every_layer_and_stay_near() -> None:
    network, outputs = heads()["softmax"]
    content = onnx_model(network, outputs, int8=True)
    nodes = [node.op_type for node in onnx.load_from_string(content).graph.node]
    assert nodes.count("MatMulInteger") == 6 * CONFIG.num_hidden_layers
    assert nodes.count("QuantizeLinear") == 4 * CONFIG.num_hidden_layers
    expected = TorchRuntime(network)(batch())
    found = OnnxRuntime(content, "int8")(batch())
    assert 0 < np.abs(found - expected).max() < 0.1 * np.abs(expected).max()


@pytest.mark.parametrize("changes", VARIANTS)
def test_integers_stay_small_enough_for_every_cpu(changes: dict[str, Any]) -> None:
    network, outputs = heads(replace(CONFIG, **changes))["first"]
    content = onnx_model(network, outputs, int8=True)
    for tensor in onnx.load_from_string(content).graph.initializer:
        numbers = onnx.numpy_helper.to_array(tensor)
        if tensor.name.endswith(".int8") and "embeddings" not in tensor.name:
            assert np.abs(numbers.astype(int)).max() == 63  # 2 * 255 * 63 fits in 16 bits


@pytest.mark.parametrize("changes", VARIANTS)
def test_in_int8_a_row_does_not_depend_on_those_beside_it(changes: dict[str, Any]) -> None:
    """To the bit, even beside a token that is far out: rows of a batch are as each alone."""
    for name in ("first", "mean", "softmax"):
        network, outputs = heads(replace(CONFIG, **changes))[name]
        network.encoder.embeddings.word.weight.data[7] *= 50
        runtime = OnnxRuntime(onnx_model(network, outputs, int8=True), "int8")
        rng = np.random.default_rng(0)
        ids = rng.integers(8, 40, (6, 11))
        ids[3, 2] = 7
        whole = PaddedBatch(ids, np.zeros_like(ids), np.ones_like(ids, dtype=bool))
        together = runtime(whole)
        for size in (1, 2, 5):
            for start in range(0, 6, size):
                rows = slice(start, start + size)
                part = PaddedBatch(*(numbers[rows] for numbers in whole))
                np.testing.assert_array_equal(runtime(part), together[rows])


@pytest.mark.parametrize("name", ["relu", "gelu", "gelu_new"])
@pytest.mark.parametrize("size", [1e-6, 0.01, 1, 100])
def test_nothing_is_clipped_whatever_its_size(name: str, size: float) -> None:
    """Rounding costs little; clipping at half of each token's largest number would cost much.

    Of the states' size rounding costs 0.01 to 0.07, clipping 0.3 to 0.9 (200 seeds of each case).
    """
    torch.manual_seed(0)
    network = LayerStates(AlbertEncoder(replace(CONFIG, hidden_act=name)), (1, 2)).eval()
    for block in network.encoder.ffn:
        block.up.weight.data *= size
    content = onnx_model(network, layer_states, int8=True)
    expected = TorchRuntime(network)(batch())

    def error(graph: bytes) -> float:
        apart = OnnxRuntime(graph, "int8")(batch()) - expected
        return float(np.linalg.norm(apart) / np.linalg.norm(expected))

    assert error(content) < 0.1
    assert error(_with_half_the_range(content)) > 0.3


def _with_half_the_range(content: bytes) -> bytes:
    """Return an int8 graph whose integers reach only half as far as the numbers they stand for."""
    model = onnx.load_from_string(content)
    steps = [1 / (255 - zero) for zero in (0, 16, 128)]  # between two integers, of a range of 1
    for tensor in model.graph.initializer:
        number = onnx.numpy_helper.to_array(tensor)
        if number.ndim == 0 and np.isclose(number, steps, rtol=1e-6, atol=0).any():
            tensor.CopyFrom(onnx.numpy_helper.from_array(number / np.float32(2), tensor.name))
    result: bytes = model.SerializeToString()
    return result
