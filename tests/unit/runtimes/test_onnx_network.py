"""ONNX graphs against the network itself, and what they store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import numpy as np
import onnx
import onnx.reference
import pytest
import torch

from tests.helpers.exported_networks import (
    CONFIG,
    VARIANTS,
    LayerStates,
    batch,
    heads,
    layer_states,
)
from zh_albert.errors import CheckpointError
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.runtimes.libraries import OnnxRuntime, feeds
from zh_albert.runtimes.onnx_graph import INPUTS, OPSET, GraphPrecision, Opset
from zh_albert.runtimes.onnx_network import onnx_model
from zh_albert.runtimes.runtime import TorchRuntime
from zh_albert.tokenization.encoding import PaddedBatch

CLOSE = {"atol": 3e-5, "rtol": 1e-5}  # outputs are up to 5; CPUs add numbers up in other orders
EVERY_OPSET = pytest.mark.parametrize("opset", get_args(Opset))
EVERY_PRECISION = pytest.mark.parametrize("precision", get_args(GraphPrecision))


@EVERY_OPSET
@pytest.mark.parametrize("name", heads())
def test_every_head_gives_the_same_in_onnx(name: str, opset: Opset) -> None:
    network, outputs = heads()[name]
    runtime = OnnxRuntime(onnx_model(network, outputs, opset=opset))
    for inputs in (batch(), batch(1, 5), batch(2, CONFIG.max_position_embeddings)):
        expected = TorchRuntime(network).outputs(inputs)
        for found, wanted in zip(runtime.outputs(inputs), expected, strict=True):
            np.testing.assert_allclose(found, wanted, **CLOSE)


@EVERY_OPSET
@pytest.mark.parametrize("changes", VARIANTS)
def test_every_variant_of_the_encoder_gives_the_same_in_onnx(
    changes: dict[str, Any], opset: Opset
) -> None:
    for name in ("first", "softmax", "masked_lm"):
        network, outputs = heads(replace(CONFIG, **changes))[name]
        runtime = OnnxRuntime(onnx_model(network, outputs, opset=opset))
        expected = TorchRuntime(network)(batch())
        np.testing.assert_allclose(runtime(batch()), expected, **CLOSE)


@EVERY_PRECISION
@EVERY_OPSET
@pytest.mark.parametrize("changes", VARIANTS)
def test_every_file_is_valid_and_says_the_shapes_of_its_inputs_and_outputs(
    changes: dict[str, Any], opset: Opset, precision: GraphPrecision
) -> None:
    for network, outputs in heads(replace(CONFIG, **changes)).values():
        model = onnx.load_from_string(
            onnx_model(network, outputs, precision=precision, opset=opset)
        )
        onnx.checker.check_model(model, full_check=True)
        read = {name for node in model.graph.node for name in node.input}
        assert {tensor.name for tensor in model.graph.initializer} <= read
        assert [(one.domain, one.version) for one in model.opset_import] == [("", opset)]
        assert [one.name for one in model.graph.input] == [*INPUTS]
        assert all(_shape(one) == ["batch", "length"] for one in model.graph.input)
        sizes = {"batch": 3, "length": 7}
        real = [list(array.shape) for array in TorchRuntime(network).outputs(batch(3, 7))]
        told = [_shape(one) for one in model.graph.output]
        assert [[sizes.get(size, size) for size in shape] for shape in told] == real


@EVERY_PRECISION
@EVERY_OPSET
def test_the_reference_of_the_operators_computes_what_onnx_runtime_does(
    opset: Opset, precision: GraphPrecision
) -> None:
    """In int8 a number between two integers may be rounded to either."""
    for changes in ({"hidden_act": "gelu_new"}, {"hidden_act": "gelu"}, {"hidden_act": "relu"}):
        network, outputs = heads(replace(CONFIG, **changes))["first"]
        content = onnx_model(network, outputs, precision=precision, opset=opset)
        reference = onnx.reference.ReferenceEvaluator(onnx.load_from_string(content))
        (found,) = reference.run(None, feeds(batch()))
        within = 0.01 if precision == "int8" else 1e-5
        expected = OnnxRuntime(content)(batch())
        np.testing.assert_allclose(found, expected, atol=within * np.abs(expected).max())


def _shape(value: Any) -> list[str | int]:
    return [size.dim_param or size.dim_value for size in value.type.tensor_type.shape.dim]


@EVERY_OPSET
@pytest.mark.parametrize("name", heads())
def test_fp16_is_stored_for_matrices_and_computed_with_in_fp32(name: str, opset: Opset) -> None:
    """The network whose matrices are rounded to fp16 gives the same."""
    network, outputs = heads()[name]
    content = onnx_model(network, outputs, precision="fp16", opset=opset)
    for tensor in onnx.load_from_string(content).graph.initializer:
        if not tensor.name.startswith(("constant", "rotation")):
            half = tensor.data_type == onnx.TensorProto.FLOAT16
            assert half == (len(tensor.dims) == 2), tensor.name
    exact = TorchRuntime(network)(batch())
    before = {part: part.data.clone() for part in network.parameters() if part.ndim == 2}
    for part in before:
        part.data = part.data.half().float()
    for block in network.encoder.attention:  # the output's bias is computed before the rounding
        block.dense.bias.data += (before[block.dense.weight] - block.dense.weight.data) @ (
            block.value.bias.data
        )
    expected, found = TorchRuntime(network)(batch()), OnnxRuntime(content)(batch())
    np.testing.assert_allclose(found, expected, **CLOSE)
    assert np.abs(found - exact).max() > 1e-5


def test_a_weight_too_large_for_fp16_is_named() -> None:
    network, outputs = heads()["first"]
    network.encoder.ffn[0].up.weight.data[3, 4] = -7e4
    with pytest.raises(CheckpointError, match=r"ffn\.0\.up\.weight: .* 65504, .* found 70000; ex"):
        onnx_model(network, outputs, precision="fp16")


@pytest.mark.parametrize("changes", VARIANTS)
@EVERY_PRECISION
@EVERY_OPSET
def test_each_parameter_is_stored_once_however_many_layers_use_it(
    changes: dict[str, Any], precision: GraphPrecision, opset: Opset
) -> None:
    network, outputs = heads(replace(CONFIG, **changes))["first"]
    content = onnx_model(network, outputs, precision=precision, opset=opset)
    stored = onnx.load_from_string(content).graph.initializer
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
    assert sum(np.prod(one.dims) for one in others) < 50


@EVERY_OPSET
def test_eight_bits_multiply_integers_in_every_layer_and_stay_near(opset: Opset) -> None:
    network, outputs = heads()["softmax"]
    content = onnx_model(network, outputs, precision="int8", opset=opset)
    nodes = [node.op_type for node in onnx.load_from_string(content).graph.node]
    assert nodes.count("MatMulInteger") == 6 * CONFIG.num_hidden_layers
    assert nodes.count("QuantizeLinear") == 4 * CONFIG.num_hidden_layers
    expected = TorchRuntime(network)(batch())
    found = OnnxRuntime(content, "int8")(batch())
    assert 0 < np.abs(found - expected).max() < 0.1 * np.abs(expected).max()


@pytest.mark.slow
@pytest.mark.parametrize("changes", VARIANTS)
def test_in_int8_the_older_opset_differs_by_a_rounding_at_most(changes: dict[str, Any]) -> None:
    for network, outputs in heads(replace(CONFIG, **changes)).values():
        newest, oldest = (
            OnnxRuntime(onnx_model(network, outputs, precision="int8", opset=opset), "int8")
            for opset in (OPSET, min(get_args(Opset)))
        )
        expected = newest(batch())
        np.testing.assert_allclose(oldest(batch()), expected, atol=0.02 * np.abs(expected).max())


@pytest.mark.parametrize("changes", VARIANTS)
def test_integers_stay_small_enough_for_every_cpu(changes: dict[str, Any]) -> None:
    network, outputs = heads(replace(CONFIG, **changes))["first"]
    content = onnx_model(network, outputs, precision="int8")
    for tensor in onnx.load_from_string(content).graph.initializer:
        numbers = onnx.numpy_helper.to_array(tensor)
        if tensor.name.endswith(".int8") and "embeddings" not in tensor.name:
            assert np.abs(numbers.astype(int)).max() == 63  # 2 * 255 * 63 fits in 16 bits


@EVERY_OPSET
@pytest.mark.parametrize("changes", VARIANTS)
def test_in_int8_a_row_does_not_depend_on_those_beside_it(
    changes: dict[str, Any], opset: Opset
) -> None:
    """To the bit, even beside a token that is far out: rows of a batch are as each alone."""
    for name in ("first", "mean", "softmax"):
        network, outputs = heads(replace(CONFIG, **changes))[name]
        network.encoder.embeddings.word.weight.data[7] *= 50
        content = onnx_model(network, outputs, precision="int8", opset=opset)
        runtime = OnnxRuntime(content, "int8")
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
    network = LayerStates(AlbertEncoder(replace(CONFIG, hidden_act=name))).eval()
    for block in network.encoder.ffn:
        block.up.weight.data *= size
    content = onnx_model(network, layer_states, precision="int8")
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


@EVERY_OPSET
def test_blocks_of_unequal_sizes_are_exact_in_fp32_and_near_in_int8(opset: Opset) -> None:
    changes: dict[str, Any] = {"block_heads": (2, 5), "block_neurons": (33, 7)}
    network, outputs = heads(replace(CONFIG, num_hidden_groups=2, **changes))["encoder"]
    [expected] = TorchRuntime(network).outputs(batch())
    for precision, allowed in (("fp32", 1e-5), ("int8", 0.1)):
        graph = onnx_model(network, outputs, precision=precision, opset=opset)
        [found] = OnnxRuntime(graph).outputs(batch())
        assert np.abs(found - expected).max() <= allowed * np.abs(expected).max()
