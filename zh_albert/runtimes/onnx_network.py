"""Networks as ONNX files that store every weight once.

The graph is written node by node, because the usual exporters trace the layers and store shared
weights once for each layer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
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
_FAR = 4.0  # standard deviations that outputs of a layer norm reach
_OUTLIER = 20.0  # standard deviations; the largest weight of most rows is at 3 to 5 of them


GraphOutputs = Callable[[Any, Graph], str]
"""Adds a whole network to a graph and returns the name of its output."""


def onnx_model(network: nn.Module, outputs: GraphOutputs, *, int8: bool = False) -> bytes:
    """Return an ``.onnx`` file that computes what ``network`` does.

    Inputs are those of ``INPUTS``, int64. Shape of each: (batch, length). The output is ``OUTPUT``.

    Args:
        network: A network with an ``encoder``.
        outputs: Adds the network to the graph.
        int8: Store the layers' matrices and the vocabulary's table as integers of 7 and 8 bits,
            each column (row) with its own scale. The layers multiply integers; the input of a
            matrix is quantized with a scale computed from the batch.

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
    pooled = graph.node("Tanh", graph.linear(hidden, network.encoder.pooler, int8=False))
    return graph.linear(pooled, network.classifier, int8=False)


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
    return states_of(encoder, graph, only_first=only_first)[-1]


def states_of(encoder: AlbertEncoder, graph: Graph, *, only_first: bool = False) -> list[str]:
    """Add the encoder; return the hidden state after each of its layers. See ``encoded``."""
    one = graph.constant([1])
    there = graph.node("Unsqueeze", graph.node("Cast", INPUTS[2], to=BOOL), graph.constant([1, 2]))
    length = graph.node("Shape", INPUTS[0], start=1, end=2)
    may_attend = graph.node("Expand", there, graph.node("Concat", one, one, length, one, axis=0))
    states = [_embedded(encoder.embeddings, graph)]
    for number, layer in enumerate(encoder.plan, start=1):
        queries = states[-1]
        if only_first and number == len(encoder.plan):
            queries = graph.node("Slice", queries, graph.constant([0]), one, one)
            may_attend = there
        attention, ffn = encoder.attention[layer.attention], encoder.ffn[layer.ffn]
        assert isinstance(attention, AttentionBlock)
        assert isinstance(ffn, FeedForwardBlock)
        attended = _attended(states[-1], queries, may_attend, attention, graph)
        states.append(_fed_forward(attended, ffn, _ranges_before(layer.ffn, encoder), graph))
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
    states: str, queries: str, may_attend: str, block: AttentionBlock, graph: Graph
) -> str:
    """Add an attention block. Shape: (batch, queries, hidden)."""
    source, asked = states, queries
    if block.pre_norm:
        source = graph.norm(states, block.norm)
        asked = source if queries == states else graph.norm(queries, block.norm)
    query, key = graph.linear(asked, block.query), graph.linear(source, block.key)
    value = graph.linear(source, block.value)
    n = block.heads
    parts = (query, key, value, may_attend)
    mixed = graph.node("Attention", *parts, q_num_heads=n, kv_num_heads=n)
    output = graph.node("Add", queries, graph.linear(mixed, block.dense))
    return output if block.pre_norm else graph.norm(output, block.norm)


def _ranges_before(group: int, encoder: AlbertEncoder) -> NDArray[np.float32]:
    """Return the largest absolute value of each feature that a block reads. Shape: (hidden,).

    The features come out of a layer norm, so its gain and offset bound them. Several norms count if
    layers that share the feed-forward block do not share their attention.
    """
    blocks = [encoder.attention[layer.attention] for layer in encoder.plan if layer.ffn == group]
    if encoder.config.norm_position == "pre":
        blocks = [encoder.ffn[group]]
    reached = []
    for block in blocks:
        assert isinstance(block, AttentionBlock | FeedForwardBlock)
        gain, offset = numbers_of(block.norm.weight), numbers_of(block.norm.bias)
        reached.append(np.abs(offset) + _FAR * np.abs(gain))
    result: NDArray[np.float32] = np.max(reached, axis=0)
    return result


def _fed_forward(
    states: str, block: FeedForwardBlock, ranges: NDArray[np.float32], graph: Graph
) -> str:
    source = graph.norm(states, block.norm) if block.pre_norm else states
    output = states
    for up, down, int8 in _parts(block, graph):
        wide = graph.linear(source, up, int8=int8, ranges=ranges)
        if isinstance(block.activation, nn.ReLU):
            active = graph.node("Relu", wide)
        else:
            # In int8 the erf form replaces the tanh form: it is faster, and the difference is
            # smaller than the rounding error.
            exact = graph.int8 or isinstance(block.activation, nn.GELU)
            active = graph.node("Gelu", wide, approximate="none" if exact else "tanh")
        output = graph.node("Add", output, graph.linear(active, down, int8=int8))
    return output if block.pre_norm else graph.norm(output, block.norm)


def _parts(block: FeedForwardBlock, graph: Graph) -> list[tuple[nn.Linear, nn.Linear, bool]]:
    """Return the block's two matrices; in int8 outlier features are split off and kept in fp32.

    Trained encoders have one or two hidden units (outlier features) whose weights and activations
    are many times as large as those of the others. In the same integer product they would determine
    the scale of the regular features.

    Source: Dettmers et al. 2022 (arXiv:2208.07339), where outliers are found by activations.
    """
    rows = numbers_of(block.down.weight)
    outlier = (np.abs(rows) > _OUTLIER * rows.std(axis=1, keepdims=True)).any(axis=0)
    if not (graph.int8 and outlier.any()):
        return [(block.up, block.down, graph.int8)]
    outliers, regular = (torch.from_numpy(chosen) for chosen in (outlier, ~outlier))
    parts = []
    split = (("quiet", regular, True, True), ("loud", outliers, False, False))  # names in files
    for name, chosen, bias, int8 in split:
        size, units = block.down.out_features, int(chosen.sum())
        up = nn.Linear(size, units, device="meta")
        up.weight, up.bias = (
            nn.Parameter(whole[chosen]) for whole in (block.up.weight, block.up.bias)
        )
        down = nn.Linear(units, size, bias=bias, device="meta")
        down.weight = nn.Parameter(block.down.weight[:, chosen])
        if bias:
            down.bias = block.down.bias
        graph.names |= {
            part: f"{graph.names[whole]}.{name}"
            for part, whole in ((up, block.up), (down, block.down))
        }
        parts.append((up, down, int8))
    return parts


def _masked_mean(hidden: str, graph: Graph) -> str:
    """Average over the tokens of each row. Shape: (batch, hidden)."""
    counts = graph.node("Cast", INPUTS[2], to=FLOAT)
    weights = graph.node("Unsqueeze", counts, graph.constant([2]))
    summed = graph.node(
        "ReduceSum", graph.node("Mul", hidden, weights), graph.constant([1]), keepdims=0
    )
    total = graph.node("ReduceSum", counts, graph.constant([1]), keepdims=1)
    return graph.node("Div", summed, graph.node("Max", total, graph.constant(1, dtype=np.float32)))
