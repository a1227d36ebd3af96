"""Operators of an ONNX graph that older opsets lack: there they are written with simpler ones."""

from __future__ import annotations

import math

import numpy as np

from zh_albert.runtimes.onnx_graph import Graph

_GELU_SINCE, _ATTENTION_SINCE = 20, 23
_LOWEST = np.finfo(np.float32).min


def attention_masks(may_attend: str, length: str, graph: Graph) -> tuple[str, str]:
    """Return two masks for ``attention``: one for as many queries as keys, one for one query.

    Args:
        may_attend: Name of a bool tensor: whether a token may be attended to. Shape: (batch, 1, 1,
            length).
        length: Name of the length. Shape: (1,).
        graph: The graph.
    """
    if graph.opset >= _ATTENTION_SINCE:
        one = graph.constant([1])
        shape = graph.node("Concat", one, one, length, one, axis=0)
        return graph.node("Expand", may_attend, shape), may_attend
    zero, lowest = (graph.constant(value, dtype=np.float32) for value in (0, _LOWEST))
    added = graph.node("Where", may_attend, zero, lowest)
    return added, added


def attention(
    query: str, key: str, value: str, mask: str, *, heads: int, width: int, graph: Graph
) -> str:
    """Add multi-head attention. Shape of its inputs but the mask, and of its output: (batch, …,
    width).

    Args:
        query: Name of the queries.
        key: Name of the keys.
        value: Name of the values.
        mask: One of ``attention_masks``.
        heads: Number of heads.
        width: Width of all heads together.
        graph: The graph.
    """
    if graph.opset >= _ATTENTION_SINCE:
        return graph.node(
            "Attention", query, key, value, mask, q_num_heads=heads, kv_num_heads=heads
        )
    each = graph.constant([0, 0, heads, width // heads])
    scale = graph.constant((width // heads) ** -0.5, dtype=np.float32)
    query, key, value = (
        graph.node("Transpose", graph.node("Reshape", part, each), perm=order)
        for part, order in ((query, [0, 2, 1, 3]), (key, [0, 2, 3, 1]), (value, [0, 2, 1, 3]))
    )
    scores = graph.node("MatMul", graph.node("Mul", query, scale), key)
    shares = graph.node("Softmax", graph.node("Add", scores, mask), axis=-1)
    mixed = graph.node("Transpose", graph.node("MatMul", shares, value), perm=[0, 2, 1, 3])
    return graph.node("Reshape", mixed, graph.constant([0, 0, width]))


def gelu(states: str, *, exact: bool, graph: Graph) -> str:
    """Add GELU, in its exact form with the error function or in its tanh form."""
    if graph.opset >= _GELU_SINCE:
        return graph.node("Gelu", states, approximate="none" if exact else "tanh")
    half, one = (graph.constant(value, dtype=np.float32) for value in (0.5, 1))
    # ONNX Runtime recognises both forms if they are written like this.
    if exact:
        root = graph.constant(math.sqrt(2), dtype=np.float32)
        share = graph.node("Erf", graph.node("Div", states, root))
        doubled = graph.node("Mul", states, graph.node("Add", share, one))
        return graph.node("Mul", doubled, half)
    cube = graph.node("Pow", states, graph.constant(3, dtype=np.float32))
    bent = graph.node("Mul", cube, graph.constant(0.044715, dtype=np.float32))
    factor = graph.constant(math.sqrt(2 / math.pi), dtype=np.float32)
    share = graph.node("Tanh", graph.node("Mul", graph.node("Add", states, bent), factor))
    doubled = graph.node("Mul", states, graph.node("Add", share, one))
    return graph.node("Mul", doubled, half)
