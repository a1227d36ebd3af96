"""The runtimes against the network itself, on small random weights; and what an export stores."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import onnx
import pytest
import torch
from torch import Tensor

from zh_albert.distillation.teacher import LayerStates, layer_states
from zh_albert.errors import ConfigError, ZhAlbertError
from zh_albert.hardware import is_bf16_faster
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.heads import MeanEncoder, SequenceClassifier
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.prefetch import map_prefetched
from zh_albert.runtimes.libraries import OnnxRuntime, OpenVinoRuntime
from zh_albert.runtimes.onnx_network import (
    GraphOutputs,
    mean_vectors,
    onnx_model,
    sequence_logits,
)
from zh_albert.runtimes.runtime import TorchRuntime
from zh_albert.runtimes.selection import Runtimes, choose_runtimes
from zh_albert.tasks.batched_inference import network_outputs
from zh_albert.tasks.choice.network import ChoiceScorer
from zh_albert.tasks.ner.networks import HEADS, build_tagger, entity_scores
from zh_albert.tasks.reading.network import SpanReader, border_logits
from zh_albert.tokenization.encoding import ModelInput, PaddedBatch

CONFIG = AlbertConfig(
    vocab_size=90,
    embedding_size=8,
    hidden_size=24,
    num_hidden_layers=3,
    num_attention_heads=3,
    intermediate_size=40,
    max_position_embeddings=20,
    initializer_range=0.3,
)
VARIANTS: list[dict[str, Any]] = [
    {},
    {"sharing": "none", "hidden_act": "gelu"},
    {"sharing": "attention", "norm_position": "pre"},
    {"sharing": "ffn", "embedding_layout": "brightmart", "hidden_act": "relu"},
    {"num_hidden_layers": 4, "num_hidden_groups": 2},
]


def batch(rows: int = 4, length: int = 13) -> PaddedBatch:
    rng = np.random.default_rng(rows)
    mask = np.arange(length) < rng.integers(2, length + 1, (rows, 1))
    ids = np.where(mask, rng.integers(1, CONFIG.vocab_size, mask.shape), 0)
    return PaddedBatch(ids, rng.integers(2, size=mask.shape), mask)


class Exported(NamedTuple):
    """A network, and what writes its graph."""

    network: Any
    outputs: GraphOutputs


def heads(config: AlbertConfig = CONFIG) -> dict[str, Exported]:
    """All networks that have an export, with spread weights."""
    torch.manual_seed(0)
    taggers = {name: Exported(build_tagger(config, 3, name), entity_scores) for name in HEADS}
    networks: dict[str, Exported] = {
        **taggers,
        "reader": Exported(SpanReader(config), border_logits),
        "choice": Exported(ChoiceScorer(config), sequence_logits),
        "vectors": Exported(MeanEncoder(config), mean_vectors),
        "states": Exported(LayerStates(AlbertEncoder(config), (1, 2)), layer_states),
        "first": Exported(SequenceClassifier(config, 5, pooling="first"), sequence_logits),
        "mean": Exported(SequenceClassifier(config, 5, pooling="mean"), sequence_logits),
    }
    for one in networks.values():
        one.network.eval()
    return networks


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


@pytest.mark.parametrize("name", heads())
def test_openvino_gives_the_same(name: str) -> None:
    network, outputs = heads()[name]
    runtime = OpenVinoRuntime(onnx_model(network, outputs), "fp32")
    for inputs in (batch(), batch(3, 8)):
        expected = TorchRuntime(network)(inputs)
        np.testing.assert_allclose(runtime(inputs), expected, atol=1e-4, rtol=1e-4)


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


def test_torch_in_bf16_is_near_and_leaves_the_network_as_it_is() -> None:
    network, _ = heads()["first"]
    expected = TorchRuntime(network)(batch())
    found = TorchRuntime(network, "bf16")(batch())
    assert 0 < np.abs(found - expected).max() < 0.05 * np.abs(expected).max()
    assert next(network.parameters()).dtype == torch.float32


def test_a_network_without_a_graph_is_refused_and_auto_takes_torch() -> None:
    network = AlbertForPretraining(CONFIG).eval()
    for runtime in ("onnxruntime", "openvino"):
        with pytest.raises(ConfigError, match="AlbertForPretraining runs in PyTorch alone; leave"):
            choose_runtimes(network, None, runtime=runtime)  # type: ignore[arg-type]
    assert choose_runtimes(network, None).of(10).name.startswith("torch")


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


def test_auto_takes_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    network, outputs = heads()["first"]
    monkeypatch.setattr("zh_albert.runtimes.selection.is_bf16_faster", lambda: True)

    def names(*installed: str, **settings: Any) -> tuple[str, str]:
        monkeypatch.setattr(
            "zh_albert.runtimes.selection.is_installed", lambda name: name in installed
        )
        runtimes = choose_runtimes(network, outputs, **settings)
        return runtimes.of(10).name, runtimes.of(100_000_000).name

    assert names() == ("torch bf16", "torch bf16")
    assert names("onnxruntime") == ("onnxruntime fp32", "onnxruntime fp32")
    assert names("onnxruntime", "openvino") == ("onnxruntime fp32", "openvino bf16")
    assert names("onnxruntime", "openvino", precision="fp32")[1] == "onnxruntime fp32"
    assert names("openvino", precision="fp32") == ("openvino fp32", "openvino fp32")
    assert names("onnxruntime", precision="bf16") == ("torch bf16", "torch bf16")
    assert names("onnxruntime", runtime="torch", precision="fp32")[0] == "torch fp32"

    monkeypatch.setattr("zh_albert.runtimes.selection.is_bf16_faster", lambda: False)
    assert names() == ("torch fp32", "torch fp32")
    assert names("onnxruntime", "openvino") == ("onnxruntime fp32", "onnxruntime fp32")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"runtime": "onnxruntim"}, "unknown runtime 'onnxruntim'; did you mean 'onnxruntime'"),
        ({"precision": "fp8"}, "unknown precision 'fp8'; known: bf16, fp32, int8"),
        ({"precision": "int8"}, "zh-albert export --precision int8"),
        ({"runtime": "onnxruntime", "precision": "bf16"}, "no bf16"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        choose_runtimes(*heads()["first"], **settings)


@pytest.mark.parametrize("library", ["onnx", "onnxruntime", "openvino"])
def test_a_missing_library_is_named_with_its_extra(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    runtime: Any = "openvino" if library == "openvino" else "onnxruntime"
    with pytest.raises(ZhAlbertError, match=rf"{library} is not installed.*zh-albert\["):
        choose_runtimes(*heads()["first"], runtime=runtime)


def test_work_ahead_keeps_the_order_and_never_piles_up() -> None:
    running, most, lock = 0, 0, threading.Lock()
    drawn = []

    def items() -> Any:
        for number in range(20):
            drawn.append(number)
            yield number

    def work(number: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.002 * (number % 3))
        with lock:
            running -= 1
        return number

    for expected, found in enumerate(map_prefetched(work, items(), threads=2)):
        assert found == expected
        assert len(drawn) <= found + 3
    assert most == 2


def test_an_error_on_a_thread_reaches_the_caller() -> None:
    with pytest.raises(ZeroDivisionError):
        list(map_prefetched(lambda number: 1 // number, [1, 0, 1]))


class Doubling:
    """A runtime that notes what it gets and answers each row with its first token, doubled."""

    name, batch_tokens, multiple_of = "doubling", 64, 8

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.shapes: list[tuple[int, ...]] = []

    def __call__(self, inputs: PaddedBatch) -> Any:
        self.shapes.append(inputs.token_ids.shape)
        time.sleep(0.001 * (len(self.shapes) % 3))
        return 2.0 * inputs.token_ids[:, :1]


@pytest.mark.parametrize("workers", [1, 3])
def test_every_input_is_answered_once_in_batches_of_like_length(workers: int) -> None:
    lengths = [1 + (7 * number) % 20 for number in range(60)]
    inputs = [
        ModelInput([number] * length, [0] * length, range(length))
        for number, length in enumerate(lengths)
    ]
    runtime = Doubling(workers)
    found = {}
    for chosen, rows in network_outputs(
        lengths, inputs.__getitem__, Runtimes(lambda: runtime), CONFIG
    ):
        assert not found.keys() & set(chosen)
        found |= dict(zip(chosen, rows[:, 0], strict=True))
    assert found == {number: 2.0 * number for number in range(60)}
    assert {length for _, length in runtime.shapes} == {8, 16, CONFIG.max_position_embeddings}
    assert max(rows * length for rows, length in runtime.shapes) <= runtime.batch_tokens


def test_answering_loads_nothing_that_is_slow_to_import() -> None:
    program = "import sys, zh_albert.inference.loading; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    slow = {"accelerate", "scipy", "sklearn", "pandas", "torch._dynamo", "onnxruntime", "openvino"}
    assert not slow & set(ran.stdout.decode().split())
