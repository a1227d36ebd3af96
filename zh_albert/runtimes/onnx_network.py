"""Networks as ONNX files that store every weight once.

The graph is written node by node, because the usual exporters trace the layers and store shared
weights once for each layer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from torch import nn

from zh_albert.errors import MissingExtraError
from zh_albert.model.embeddings import FactorizedEmbeddings
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.heads import MeanEncoder, SequenceClassifier
from zh_albert.model.layer import AttentionBlock, FeedForwardBlock
from zh_albert.model.token_tagger import TokenTagger
from zh_albert.runtimes.onnx_graph import BOOL, FLOAT, Graph, numbers_of

INPUTS = ("input_ids", "token_type_ids", "attention_mask")  # as ``transformers`` names them
OUTPUT = "logits"
_OPSET = 23  # the first with Attention
_LOWEST_GELU = -0.1701


GraphOutputs = Callable[[Any, Graph], str]
"""Adds a whole network to a graph and returns the name of its output."""


def onnx_model(network: nn.Module, outputs: GraphOutputs, *, int8: bool = False) -> bytes:
    """Return an ``.onnx`` file that computes what ``network`` does.

    Inputs are those of ``INPUTS``, int64. Shape of each: (batch, length). The output is ``OUTPUT``.

    Args:
        network: A network with an ``encoder``.
        outputs: Adds the network to the graph.
        int8: Store the layers' matrices and the vocabulary's table as integers of 7 and 8 bits,
            each column (row) with its own scale. The layers multiply integers; each token's
            input of a matrix is quantized with a scale of its own.

    Raises:
        MissingExtraError: If onnx is not installed.
    """
    try:
        import onnx  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtraError.of("onnx", "onnx") from None
    graph = Graph(network, int8=int8)
    graph.node("Identity", outputs(network, graph), output=OUTPUT)
    inputs = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ["batch", "length"])
        for name in INPUTS
    ]
    output = onnx.helper.make_tensor_value_info(OUTPUT, onnx.TensorProto.FLOAT, None)
    body = onnx.helper.make_graph(
        [onnx.helper.make_node(kind, ins, outs, **more) for kind, ins, outs, more in graph.nodes],
        "albert",
        inputs,
        [output],
        [onnx.numpy_helper.from_array(array, name) for name, array in graph.tensors.items()],
    )
    model = onnx.helper.make_model(
        body,
        producer_name="zh-albert",
        opset_imports=[onnx.helper.make_opsetid("", _OPSET)],
        ir_version=11,
    )
    result: bytes = model.SerializeToString()
    return result


def sequence_logits(network: SequenceClassifier, graph: Graph) -> str:
    """Add a classifier of whole texts; return its logits. Shape: (batch, labels)."""
    hidden = encoded(network.encoder, graph, only_first=network.pooling == "first")
    if network.pooling == "mean":
        hidden = _masked_mean(hidden, graph)
    else:
        hidden = graph.node("Squeeze", hidden, graph.constant([1]))
    # ONNX Runtime adds up a product of one row in another order than one of several, so that a text
    # alone would differ from the same text among others in the last bit.
    twice = graph.node("Concat", hidden, hidden, axis=0)
    pooled = graph.node("Tanh", graph.linear(twice, network.encoder.pooler, int8=False))
    return graph.split(graph.linear(pooled, network.classifier, int8=False), 2, axis=0)[0]


def mean_vectors(network: MeanEncoder, graph: Graph) -> str:
    """Add an encoder of whole texts; return their vectors. Shape: (batch, hidden)."""
    return _masked_mean(encoded(network.encoder, graph), graph)


def token_logits(network: TokenTagger, graph: Graph) -> str:
    """Add a classifier of tokens; return its logits. Shape: (batch, length, tags)."""
    return graph.linear(encoded(network.encoder, graph), network.classifier, int8=False)


def encoded(encoder: AlbertEncoder, graph: Graph, *, only_first: bool = False) -> str:
    """Add the encoder; return its last hidden state. Shape: (batch, length, hidden).

    Args:
        encoder: An encoder of any variant.
        graph: The graph that the encoder is added to.
        only_first: Compute only the first token's state in the last layer. The shape is then
            (batch, 1, hidden).
    """
    return _layers(encoder, graph, only_first=only_first)[-1].by_text(graph)


def states_of(encoder: AlbertEncoder, graph: Graph) -> list[str]:
    """Add the encoder; return the hidden state after each of its layers. See ``encoded``."""
    return [states.by_text(graph) for states in _layers(encoder, graph)]


class _Rows(NamedTuple):
    """Hidden states of a batch, a row for each token.

    Attributes:
        states: Name of the states. Shape: (batch · length, hidden).
        shape: Name of the vector (batch, length, hidden).
    """

    states: str
    shape: str

    def by_text(self, graph: Graph) -> str:
        """Return the states in the shape (batch, length, hidden)."""
        return graph.node("Reshape", self.states, self.shape)


def _layers(encoder: AlbertEncoder, graph: Graph, *, only_first: bool = False) -> list[_Rows]:
    """Add the encoder; return the hidden states after each of its layers. See ``encoded``."""
    one, hidden = graph.constant([1]), graph.constant([encoder.config.hidden_size])
    flat = graph.constant([-1, encoder.config.hidden_size])
    there = graph.node("Unsqueeze", graph.node("Cast", INPUTS[2], to=BOOL), graph.constant([1, 2]))
    length = graph.node("Shape", INPUTS[0], start=1, end=2)
    may_attend = graph.node("Expand", there, graph.node("Concat", one, one, length, one, axis=0))
    shape = graph.node("Concat", graph.node("Shape", INPUTS[0]), hidden, axis=0)
    embedded = graph.node("Reshape", _embedded(encoder.embeddings, graph), flat)
    states = [_Rows(embedded, shape)]
    for number, layer in enumerate(encoder.plan, start=1):
        queries = states[-1]
        if only_first and number == len(encoder.plan):
            firsts = graph.node("Slice", queries.by_text(graph), graph.constant([0]), one, one)
            queries = _Rows(graph.node("Reshape", firsts, flat), graph.node("Shape", firsts))
            may_attend = there
        attention, ffn = encoder.attention[layer.attention], encoder.ffn[layer.ffn]
        assert isinstance(attention, AttentionBlock)
        assert isinstance(ffn, FeedForwardBlock)
        attended = _attended(states[-1], queries, may_attend, attention, graph)
        states.append(_Rows(_fed_forward(attended, ffn, graph), queries.shape))
    return states[1:]


def _embedded(embeddings: FactorizedEmbeddings, graph: Graph) -> str:
    length = graph.node("Shape", INPUTS[0], start=1, end=2)
    zero = graph.constant([0])
    words = graph.table(embeddings.word, INPUTS[0])
    if embeddings.projects_first:
        words = graph.linear(words, embeddings.projection, int8=False)
    types = graph.node("Gather", graph.weight(embeddings.token_type), INPUTS[1])
    positions = graph.node("Slice", graph.weight(embeddings.position), zero, length, zero)
    added = graph.node("Add", graph.node("Add", words, types), positions)
    normed = graph.norm(added, embeddings.norm)
    if embeddings.projects_first:
        return normed
    return graph.linear(normed, embeddings.projection, int8=False)


def _attended(
    states: _Rows, queries: _Rows, may_attend: str, block: AttentionBlock, graph: Graph
) -> str:
    """Add an attention block. Shape: that of the states of ``queries``."""
    source, asked = states.states, queries.states
    if block.pre_norm:
        source = graph.norm(states.states, block.norm)
        asked = source if queries is states else graph.norm(queries.states, block.norm)
    # A key's bias adds the same to all scores of a query, so the softmax drops it. A value's bias
    # comes out of the weighted mean as it is, so it is added with the last bias.
    query = queries._replace(states=graph.linear(asked, block.query))
    key = states._replace(states=graph.linear(source, block.key, bias=None))
    value = states._replace(states=graph.linear(source, block.value, bias=None))
    parts = [rows.by_text(graph) for rows in (query, key, value)]
    n = block.heads
    mixed = graph.node("Attention", *parts, may_attend, q_num_heads=n, kv_num_heads=n)
    flat = graph.node("Reshape", mixed, graph.constant([-1, block.dense.in_features]))
    bias = numbers_of(block.dense(block.value.bias))
    output = graph.node("Add", queries.states, graph.linear(flat, block.dense, bias=bias))
    return output if block.pre_norm else graph.norm(output, block.norm)


def _fed_forward(states: str, block: FeedForwardBlock, graph: Graph) -> str:
    wide = graph.linear(graph.norm(states, block.norm) if block.pre_norm else states, block.up)
    if isinstance(block.activation, nn.ReLU):
        active, lowest = graph.node("Relu", wide), 0.0
    else:
        # In int8 the erf form replaces the tanh form: it is faster, and the difference is
        # smaller than the rounding error.
        exact = graph.int8 or isinstance(block.activation, nn.GELU)
        active = graph.node("Gelu", wide, approximate="none" if exact else "tanh")
        lowest = _LOWEST_GELU
    output = graph.node("Add", states, graph.linear(active, block.down, lowest=lowest))
    return output if block.pre_norm else graph.norm(output, block.norm)


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
