"""ONNX graphs against the network itself, and what they store."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pytest
import torch

from tests.helpers.exported_networks import CONFIG, VARIANTS, batch, heads
from zh_albert.model.heads import SequenceClassifier
from zh_albert.runtimes.libraries import OnnxRuntime
from zh_albert.runtimes.onnx_network import (
    onnx_model,
    sequence_logits,
)
from zh_albert.runtimes.runtime import TorchRuntime


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
    weights = {name: sum(1 for n in names if n == name) for name, _ in network.named_parameters()}
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
    assert nodes.count("DynamicQuantizeLinear") == 4 * CONFIG.num_hidden_layers
    expected = TorchRuntime(network)(batch())
    found = OnnxRuntime(content, "int8")(batch())
    assert 0 < np.abs(found - expected).max() < 0.1 * np.abs(expected).max()


@pytest.mark.parametrize("changes", VARIANTS)
def test_integers_stay_small_enough_for_every_cpu(changes: dict[str, Any]) -> None:
    network = SequenceClassifier(replace(CONFIG, **changes), 5).eval()
    content = onnx_model(network, sequence_logits, int8=True)
    for tensor in onnx.load_from_string(content).graph.initializer:
        numbers = onnx.numpy_helper.to_array(tensor)
        if tensor.name.endswith(".int8") and "embeddings" not in tensor.name:
            assert np.abs(numbers.astype(int)).max() == 63  # 2 * 255 * 63 fits in 16 bits


@pytest.mark.parametrize("changes", VARIANTS)
def test_one_unit_that_is_far_out_does_not_make_integers_coarse(changes: dict[str, Any]) -> None:
    torch.manual_seed(0)
    config = replace(CONFIG, intermediate_size=1536, **changes)
    network = SequenceClassifier(config, 5).eval()
    for name, layer in network.named_modules():
        if name.endswith(".down"):
            layer.weight.data *= 0.1
            layer.weight.data[3, 70] = 1.0  # in a row whose others are at 0.03
        elif name.endswith(".up"):
            layer.weight.data *= 0.5
            layer.bias.data[70] = 30.0
    inputs = batch()
    expected = TorchRuntime(network)(inputs)
    content = onnx_model(network, sequence_logits, int8=True)
    found = OnnxRuntime(content, "int8")(inputs)
    # 0.0055 at most; in one product with the others 0.045 in the first variant.
    assert np.abs(found - expected).max() < 0.015 * np.abs(expected).max()
    stored = {tensor.name for tensor in onnx.load_from_string(content).graph.initializer}
    blocks = {name[:-17] for name in stored if name.endswith(".down.loud.weight")}
    assert blocks == {name for name, _ in network.named_modules() if re.search(r"ffn\.\d+$", name)}


@pytest.mark.parametrize("changes", VARIANTS)
def test_a_number_that_is_far_out_does_not_make_those_beside_it_coarse(
    changes: dict[str, Any],
) -> None:
    torch.manual_seed(0)
    config = replace(CONFIG, **changes)
    network = SequenceClassifier(config, 5).eval()
    before = "ffn" if network.encoder.config.norm_position == "pre" else "attention"
    for name, layer in network.named_modules():
        if name.endswith(".norm") and before in name:
            layer.weight.data[7] = 40.0  # the others are at 1
        elif name.endswith(".norm"):
            layer.weight.data[7] = 0.05  # so that nothing else reads it as it is
        elif name.endswith(".up"):
            layer.weight.data[:, 7] *= 0.01
    inputs = batch()
    expected = TorchRuntime(network)(inputs)
    found = OnnxRuntime(onnx_model(network, sequence_logits, int8=True), "int8")(inputs)
    # 0.087 of it at most; with one scale for all that goes in 0.12 to 0.23.
    assert np.square(found - expected).mean() < np.square(0.1 * expected).mean()
