"""The encoder's part of an ONNX graph: embeddings and layers."""

from __future__ import annotations

from typing import NamedTuple

from torch import nn

from zh_albert.model.embeddings import FactorizedEmbeddings
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.layer import AttentionBlock, FeedForwardBlock
from zh_albert.model.lstm_encoder import BidirectionalLstm, LstmEncoder
from zh_albert.runtimes.onnx_graph import BOOL, INPUTS, Graph, numbers_of
from zh_albert.runtimes.onnx_lstm import bidirectional_lstm, texts_of
from zh_albert.runtimes.onnx_operators import attention, attention_masks, gelu

_LOWEST_GELU = -0.1701


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

    def by_text(self, graph: Graph, width: int | None = None) -> str:
        """Return the states in the shape (batch, length, hidden); ``width`` where it is another."""
        shape = self.shape
        if width is not None:
            zero, two = graph.constant([0]), graph.constant([2])
            sizes = graph.node("Slice", shape, zero, two)
            shape = graph.node("Concat", sizes, graph.constant([width]), axis=0)
        return graph.node("Reshape", self.states, shape)


def _layers(encoder: AlbertEncoder, graph: Graph, *, only_first: bool = False) -> list[_Rows]:
    """Add the encoder; return the hidden states after each of its layers. See ``encoded``."""
    if isinstance(encoder, LstmEncoder):
        return _lstms(encoder, graph, only_first=only_first)
    hidden = graph.constant([encoder.config.hidden_size])
    flat = graph.constant([-1, encoder.config.hidden_size])
    there = graph.node("Unsqueeze", graph.node("Cast", INPUTS[2], to=BOOL), graph.constant([1, 2]))
    length = graph.node("Shape", INPUTS[0], start=1, end=2)
    mask, mask_of_one = attention_masks(there, length, graph)
    shape = graph.node("Concat", graph.node("Shape", INPUTS[0]), hidden, axis=0)
    embedded = graph.node("Reshape", _embedded(encoder.embeddings, graph), flat)
    states = [_Rows(embedded, shape)]
    for number, layer in enumerate(encoder.plan, start=1):
        queries = states[-1]
        if only_first and number == len(encoder.plan):
            one = graph.constant([1])
            firsts = graph.node("Slice", queries.by_text(graph), graph.constant([0]), one, one)
            queries = _Rows(graph.node("Reshape", firsts, flat), graph.node("Shape", firsts))
            mask = mask_of_one
        attention, ffn = encoder.attention[layer.attention], encoder.ffn[layer.ffn]
        assert isinstance(attention, AttentionBlock)
        assert isinstance(ffn, FeedForwardBlock)
        attended = _attended(states[-1], queries, mask, attention, graph)
        states.append(_Rows(_fed_forward(attended, ffn, graph), queries.shape))
    return states[1:]


def _lstms(encoder: LstmEncoder, graph: Graph, *, only_first: bool) -> list[_Rows]:
    """Add an encoder of LSTMs. See ``_layers``."""
    flat = graph.constant([-1, encoder.config.hidden_size])
    texts = texts_of(graph)
    states = graph.node("Transpose", _embedded(encoder.embeddings, graph), perm=[1, 0, 2])
    made = []
    for layer in encoder.lstm:
        assert isinstance(layer, BidirectionalLstm)
        states = bidirectional_lstm(states, texts, layer.cells, graph)
        made.append(graph.node("Transpose", states, perm=[1, 0, 2]))
    if only_first:
        one = graph.constant([1])
        made[-1] = graph.node("Slice", made[-1], graph.constant([0]), one, one)
    return [_Rows(graph.node("Reshape", each, flat), graph.node("Shape", each)) for each in made]


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


def _attended(states: _Rows, queries: _Rows, mask: str, block: AttentionBlock, graph: Graph) -> str:
    """Add an attention block. Shape: that of the states of ``queries``."""
    source, asked = states.states, queries.states
    if block.pre_norm:
        source = graph.norm(states.states, block.norm)
        asked = source if queries is states else graph.norm(queries.states, block.norm)
    # A key's bias adds the same to all scores of a query, so the softmax drops it. A value's bias
    # comes out of the weighted mean as it is, so it is added with the last bias.
    rows = (
        queries._replace(states=graph.linear(asked, block.query)),
        states._replace(states=graph.linear(source, block.key, bias=None)),
        states._replace(states=graph.linear(source, block.value, bias=None)),
    )
    width = block.dense.in_features
    other = None if width == block.dense.out_features else width  # fewer heads than the model
    query, key, value = (part.by_text(graph, other) for part in rows)
    mixed = attention(query, key, value, mask, heads=block.heads, width=width, graph=graph)
    flat = graph.node("Reshape", mixed, graph.constant([-1, width]))
    bias = numbers_of(block.dense(block.value.bias))
    output = graph.node("Add", queries.states, graph.linear(flat, block.dense, bias=bias))
    return output if block.pre_norm else graph.norm(output, block.norm)


def _fed_forward(states: str, block: FeedForwardBlock, graph: Graph) -> str:
    wide = graph.linear(graph.norm(states, block.norm) if block.pre_norm else states, block.up)
    active = activated(wide, block.activation, graph)
    lowest = 0.0 if isinstance(block.activation, nn.ReLU) else _LOWEST_GELU
    output = graph.node("Add", states, graph.linear(active, block.down, lowest=lowest))
    return output if block.pre_norm else graph.norm(output, block.norm)


def activated(states: str, activation: nn.Module, graph: Graph) -> str:
    """Add an encoder's activation. Shape: any."""
    if isinstance(activation, nn.ReLU):
        return graph.node("Relu", states)
    # In int8 the erf form replaces the tanh form: it is faster, and the difference is smaller than
    # the rounding error.
    return gelu(states, exact=graph.int8 or isinstance(activation, nn.GELU), graph=graph)
