"""Bidirectional LSTMs in an ONNX graph."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import nn

from zh_albert.runtimes.onnx_graph import FLOAT, INPUTS, Graph, numbers_of

_GATES = [0, 3, 1, 2]  # PyTorch's order input, forget, cell, output → input, output, forget, cell


class Texts(NamedTuple):
    """Names of what a layer has to know of the texts of a batch.

    Attributes:
        lengths: Tokens of each, at least 1; padding stands after them. Shape: (batch,).
        there: 1 for tokens, 0 for padding, in fp32. Shape: (length, batch, 1).
    """

    lengths: str
    there: str


def texts_of(graph: Graph) -> Texts:
    """Add what layers have to know of the texts."""
    tokens = graph.node("ReduceSum", INPUTS[2], graph.constant([1]), keepdims=0)
    lengths = graph.node("Max", tokens, graph.constant(1))
    columns = graph.node("Transpose", graph.node("Cast", INPUTS[2], to=FLOAT), perm=[1, 0])
    return Texts(lengths, graph.node("Unsqueeze", columns, graph.constant([2])))


def bidirectional_lstm(states: str, texts: Texts, cells: nn.LSTM, graph: Graph) -> str:
    """Add one layer. Shape of its input and output: (length, batch, hidden); 0 at padding.

    The backward direction is a forward one over each text reversed within its own length, because
    OpenVINO 2026.4 ignores the operator's lengths. Its matrices are multiplied in fp32 whatever the
    graph's precision; in int8 and fp16 the file is smaller.

    Args:
        states: Name of the input.
        texts: Of the batch.
        cells: The weights.
        graph: The graph.
    """
    forward = _lstm(states, cells, "", graph)
    backward = _lstm(_reversed(states, texts, graph), cells, "_reverse", graph)
    both = graph.node("Concat", forward, _reversed(backward, texts, graph), axis=2)
    return graph.node("Mul", both, texts.there)


def _lstm(states: str, cells: nn.LSTM, direction: str, graph: Graph) -> str:
    """Add one direction. Shape: (length, batch, hidden) → (length, batch, units)."""
    name = graph.names[cells]
    read, kept, *biases = (
        _by_gate(numbers_of(getattr(cells, f"{kind}_l0{direction}")))
        for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    made = graph.node(
        "LSTM",
        states,
        graph.matrices(f"{name}.weight_ih_l0{direction}", read[None]),
        graph.matrices(f"{name}.weight_hh_l0{direction}", kept[None]),
        graph.store(f"{name}.bias_l0{direction}", np.concatenate(biases)[None]),
        hidden_size=cells.hidden_size,
    )
    return graph.node("Squeeze", made, graph.constant([1]))  # the axis of directions


def _reversed(states: str, texts: Texts, graph: Graph) -> str:
    """Reverse each text within its length. Shape in and out: (length, batch, …)."""
    return graph.node("ReverseSequence", states, texts.lengths, time_axis=0, batch_axis=1)


def _by_gate(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """Put the rows of a parameter in ONNX's order of gates. Shape in and out: (4 · units, …)."""
    parts = np.split(numbers, 4)
    return np.concatenate([parts[gate] for gate in _GATES])
