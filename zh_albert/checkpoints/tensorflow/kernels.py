"""Kernels of dense layers, in the shapes of several generations of code, as our matrices.

Source: google-research/albert, modeling.py (``dense_layer_2d``, ``dense_layer_3d``: matrices are
stored, and reshaped to three dimensions in the graph); brightmart/albert_zh,
modeling_google_fast.py (``dense_layer_2d`` with ``num_groups``).
"""

from __future__ import annotations

import re

from torch import Tensor

from zh_albert.checkpoints.tensorflow.names import is_transposed
from zh_albert.model.config import AlbertConfig

_SELF = re.compile(r"/attention(_\w+)?/self/(query|key|value)/(kernel|bias)$")
_OUTPUT = re.compile(r"/attention(_\w+)?/output/dense/kernel$")
_FEED_FORWARD = re.compile(r"/(ffn_1/)?intermediate/(output/)?dense/(kernel|bias)$")


def in_our_shape(name: str, tensor: Tensor, config: AlbertConfig) -> Tensor:
    """Return a tensor of theirs in our shape; one of no known shape as it is.

    Besides matrices there are, in three dimensions, attention kernels by heads, ``(hidden, heads,
    head size)`` and ``(heads, head size, hidden)``, and feed-forward kernels in groups,
    ``(groups, inputs / groups, outputs / groups)``; the biases of both have two.

    Args:
        name: The tensor's name in the code.
        tensor: As it is stored.
        config: Of the checkpoint.
    """
    hidden, heads = config.hidden_size, config.num_attention_heads
    size, inner = hidden // heads, config.intermediate_size
    shape = tuple(tensor.shape)
    if is_transposed(name) and tensor.ndim == 2:
        return tensor.t()
    if _SELF.search(name) and shape in ((hidden, heads, size), (heads, size)):
        return tensor.flatten(-2).t() if tensor.ndim == 3 else tensor.flatten()
    if _OUTPUT.search(name) and shape == (heads, size, hidden):
        return tensor.flatten(0, 1).t()
    if _FEED_FORWARD.search(name) and tensor.ndim in (2, 3):
        groups, *sides = shape
        if tensor.ndim == 2:
            return tensor.flatten()
        if sorted(groups * side for side in sides) == sorted((hidden, inner)):
            return _joined_groups(tensor)
    return tensor


def _joined_groups(kernel: Tensor) -> Tensor:
    """Return the matrix of a dense layer in groups, with zeros between different groups.

    Input i of group g is input i · groups + g of the layer; the groups' outputs are concatenated.

    Args:
        kernel: Shape: (groups, inputs / groups, outputs / groups).

    Returns:
        Shape: (outputs, inputs).
    """
    groups, inputs, outputs = kernel.shape
    joined = kernel.new_zeros(groups, outputs, inputs, groups)
    joined.diagonal(dim1=0, dim2=3).copy_(kernel.permute(2, 1, 0))
    return joined.reshape(groups * outputs, inputs * groups)
