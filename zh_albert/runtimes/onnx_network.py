"""Networks as ONNX files that store every weight once.

The graph is written node by node, because the usual exporters trace the layers and store shared
weights once for each layer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from torch import nn

from zh_albert.errors import MissingExtraError
from zh_albert.model.embeddings import FactorizedEmbeddings
from zh_albert.model.heads import MeanEncoder, SequenceClassifier
from zh_albert.model.pretraining_heads import EncoderOutputs, MaskedLmHead
from zh_albert.model.token_tagger import TokenTagger
from zh_albert.runtimes.calibration import Ranges
from zh_albert.runtimes.onnx_encoder import activated, encoded
from zh_albert.runtimes.onnx_graph import FLOAT, INPUTS, OPSET, Graph, GraphPrecision, Opset

_IR_VERSIONS: dict[Opset, int] = {17: 8, 23: 11}  # of the first onnx release with that opset

GraphOutputs = Callable[[Any, Graph], None]
"""Adds a whole network to a graph, with its outputs."""


def onnx_model(
    network: nn.Module,
    outputs: GraphOutputs,
    *,
    precision: GraphPrecision = "fp32",
    opset: Opset = OPSET,
    ranges: Ranges | None = None,
) -> bytes:
    """Return an ``.onnx`` file that computes what ``network`` does.

    Inputs are those of ``INPUTS``, int64. Shape of each: (batch, length). Outputs are fp32; the
    first is the network's own.

    Args:
        network: A network with an ``encoder``.
        outputs: Adds the network to the graph.
        precision: ``fp16``: matrices and tables are stored in fp16; the graph converts them and
            computes in fp32. ``int8``: the layers' matrices and the vocabulary's table are
            integers of 7 and 8 bits, each column (row) with its own scale. The layers multiply
            integers; each token's input of a matrix is quantized with a scale of its own.
        opset: See ``Opset``.
        ranges: Of int8, for fixed scales; see ``Graph``.

    Raises:
        MissingExtraError: If onnx is not installed.
        CheckpointError: If a weight is too large for fp16.
    """
    try:
        import onnx  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtraError.of("onnx", "onnx") from None
    graph = Graph(network, precision, opset, ranges)
    outputs(network, graph)
    types, info = onnx.TensorProto, onnx.helper.make_tensor_value_info
    body = onnx.helper.make_graph(
        [onnx.helper.make_node(kind, ins, outs, **more) for kind, ins, outs, more in graph.nodes],
        "albert",
        [info(name, types.INT64, ["batch", "length"]) for name in INPUTS],
        [info(output.name, types.FLOAT, output.shape) for output in graph.outputs],
        [onnx.numpy_helper.from_array(array, name) for name, array in graph.tensors.items()],
    )
    model = onnx.helper.make_model(
        body,
        producer_name="zh-albert",
        opset_imports=[onnx.helper.make_opsetid("", opset)],
        ir_version=_IR_VERSIONS[opset],
    )
    result: bytes = model.SerializeToString()
    return result


def sequence_logits(network: SequenceClassifier, graph: Graph) -> None:
    """Add a classifier of whole texts, with its logits as output. Shape: (batch, labels)."""
    hidden = encoded(network.encoder, graph, only_first=network.pooling == "first")
    if network.pooling == "mean":
        hidden = _masked_mean(hidden, graph)
    else:
        hidden = graph.node("Squeeze", hidden, graph.constant([1]))
    # ONNX Runtime adds up a product of one row in another order than one of several, so that a text
    # alone would differ from the same text among others in the last bit.
    twice = graph.node("Concat", hidden, hidden, axis=0)
    pooled = graph.node("Tanh", graph.linear(twice, network.encoder.pooler, int8=False))
    logits = graph.split(graph.linear(pooled, network.classifier, int8=False), 2, axis=0)[0]
    graph.output(logits, ("batch", network.classifier.out_features))


def mean_vectors(network: MeanEncoder, graph: Graph) -> None:
    """Add an encoder of whole texts, with their vectors as output. Shape: (batch, hidden)."""
    vectors = _masked_mean(encoded(network.encoder, graph), graph)
    graph.output(vectors, ("batch", network.encoder.config.hidden_size))


def token_logits(network: TokenTagger, graph: Graph) -> None:
    """Add a classifier of tokens, with its logits as output. Shape: (batch, length, tags)."""
    logits = graph.linear(encoded(network.encoder, graph), network.classifier, int8=False)
    graph.output(logits, ("batch", "length", network.classifier.out_features))


def encoder_outputs(network: nn.Module, graph: Graph) -> None:
    """Add a pretrained encoder; see ``EncoderOutputs`` for its outputs."""
    assert isinstance(network, EncoderOutputs)
    encoder = network.encoder
    hidden = encoded(encoder, graph)
    if network.masked_lm is not None:
        logits = _masked_lm_logits(hidden, network.masked_lm, encoder.embeddings, graph)
        graph.output(logits, ("batch", "length", encoder.config.vocab_size))
    width = encoder.config.hidden_size
    graph.output(hidden, ("batch", "length", width), "last_hidden_state")


def _masked_lm_logits(
    hidden: str, head: MaskedLmHead, embeddings: FactorizedEmbeddings, graph: Graph
) -> str:
    """Add the logits of every token. Shape: (batch, length, vocab)."""
    states = activated(graph.linear(hidden, head.dense, int8=False), head.activation, graph)
    states = graph.norm(states, head.norm)
    if embeddings.projects_first:
        back = graph.node("Transpose", graph.matrix(embeddings.projection), perm=[1, 0])
        states = graph.node("MatMul", states, back)
    words = graph.node("Transpose", graph.whole_table(embeddings.word), perm=[1, 0])
    return graph.node("Add", graph.node("MatMul", states, words), graph.weight(head, "bias"))


def _masked_mean(hidden: str, graph: Graph) -> str:
    """Average over the tokens of each row. Shape: (batch, hidden).

    By a product, which adds the tokens up in the same order for one row and for several; a sum does
    not in ONNX Runtime.
    """
    one = graph.constant([1])
    there = graph.node("Unsqueeze", graph.node("Cast", INPUTS[2], to=FLOAT), one)
    summed = graph.node("Squeeze", graph.node("MatMul", there, hidden), one)
    total = graph.node("ReduceSum", there, graph.constant([2]), keepdims=0)
    return graph.node("Div", summed, graph.node("Max", total, graph.constant(1, dtype=np.float32)))
