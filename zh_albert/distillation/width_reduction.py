"""Width reduction of a layer's weights that changes the layer's function as little as possible."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from zh_albert.model.layer import AttentionBlock, FeedForwardBlock


class AttentionWeights(NamedTuple):
    """Weights of one attention block; matrices as in ``nn.Linear``, outputs first."""

    query: Tensor
    query_bias: Tensor
    key: Tensor
    key_bias: Tensor
    value: Tensor
    value_bias: Tensor
    output: Tensor
    output_bias: Tensor


class FeedForwardWeights(NamedTuple):
    """Weights of one feed-forward block."""

    up: Tensor
    up_bias: Tensor
    down: Tensor
    down_bias: Tensor


Weights = TypeVar("Weights", AttentionWeights, FeedForwardWeights)


def read_attention(block: nn.Module) -> AttentionWeights:
    """Return the weights of an attention block."""
    return AttentionWeights(*_tensors(block))


def read_feed_forward(block: nn.Module) -> FeedForwardWeights:
    """Return the weights of a feed-forward block."""
    return FeedForwardWeights(*_tensors(block))


def write_linears(block: nn.Module, weights: AttentionWeights | FeedForwardWeights) -> None:
    """Set the matrices and biases of a block, in place; its norm stays."""
    for tensor, value in zip(_tensors(block), weights, strict=True):
        tensor.copy_(value)


def _tensors(block: nn.Module) -> list[Tensor]:
    """Return the weights and biases of a block, in the order of those classes."""
    parts: list[Any]
    if isinstance(block, AttentionBlock):
        parts = [block.query, block.key, block.value, block.dense]
    else:
        assert isinstance(block, FeedForwardBlock)
        parts = [block.up, block.down]
    return [tensor.detach() for part in parts for tensor in (part.weight, part.bias)]


def average(block: nn.Module, alike: Sequence[nn.Module]) -> None:
    """Set all weights of a block, its norm's too, to the mean of some of the same sizes."""
    states = [other.state_dict() for other in alike]
    block.load_state_dict(
        {name: torch.stack([state[name] for state in states]).mean(0) for name in states[0]}
    )


def mean_weights(weights: Sequence[Weights]) -> Weights:
    """Average blocks; heads and neurons with the same index correspond, as in a trained stack of
    layers.
    """
    return type(weights[0])(*(torch.stack(parts).mean(0) for parts in zip(*weights, strict=True)))


def reduced_attention(
    wide: AttentionWeights, basis: Tensor, *, heads: int, head_size: int
) -> AttentionWeights:
    """Return an attention block for states projected onto a basis, with fewer dimensions per head.

    Only two products of a head matter: query with key, and output with value. Each is truncated to
    its largest singular values. The key's bias adds the same to all keys and is dropped; the
    value's bias passes through attention unchanged and is merged into the output's.

    Args:
        wide: Of hidden size H.
        basis: Orthonormal columns; the unit matrix if states stay as wide. Shape: (H, h).
        heads: Number of heads, which does not change.
        head_size: Dimensions that each head keeps.
    """
    old_width, head_width = len(wide.query) // heads, head_size
    stretch = (head_width / old_width) ** 0.25  # applied to both query and key
    queries, biases, keys, values, outputs = [], [], [], [], []
    for head in range(heads):
        part = slice(head * old_width, (head + 1) * old_width)
        query, key = wide.query[part] @ basis, wide.key[part] @ basis  # (old width, h)
        left, right = _cut_product(query, key, head_width)
        queries.append(left * stretch)
        keys.append(right * stretch)
        target = key.T @ wide.query_bias[part]  # score of each key direction by the bias alone
        # The default driver reads unwritten memory: no two runs would give the same bits.
        fitted = torch.linalg.lstsq(keys[-1].T, target[:, None], driver="gels").solution[:, 0]
        biases.append(fitted * math.sqrt(head_width / old_width))
        out, value = _cut_product(
            (basis.T @ wide.output[:, part]).T, wide.value[part] @ basis, head_width
        )
        outputs.append(out.T)
        values.append(value)
    zeros = torch.zeros(heads * head_width)
    return AttentionWeights(
        query=torch.cat(queries),
        query_bias=torch.cat(biases),
        key=torch.cat(keys),
        key_bias=zeros,
        value=torch.cat(values),
        value_bias=zeros,
        output=torch.cat(outputs, dim=1),
        output_bias=basis.T @ (wide.output_bias + wide.output @ wide.value_bias),
    )


def _cut_product(left: Tensor, right: Tensor, rank: int) -> tuple[Tensor, Tensor]:
    """Return two matrices of ``rank`` rows whose product approximates ``leftᵀ · right``.

    Args:
        left: Shape: (width, m).
        right: Shape: (width, n).
        rank: Rows of the results. Shapes: (rank, m) and (rank, n).
    """
    left_basis, left_rest = torch.linalg.qr(left.T)
    right_basis, right_rest = torch.linalg.qr(right.T)
    first, strength, second = torch.linalg.svd(left_rest @ right_rest.T)
    root = strength[:rank].sqrt()[:, None]
    return root * (left_basis @ first[:, :rank]).T, root * (right_basis @ second[:rank].T).T


def reduced_feed_forward(
    wide: FeedForwardWeights,
    basis: Tensor,
    inputs: Tensor,
    activation: Callable[[Tensor], Tensor],
    *,
    neurons: int,
) -> FeedForwardWeights:
    """Return a feed-forward block for states projected onto a basis, with its most important
    neurons.

    The importance of a neuron is the variation of its output over real text. The mean output of
    dropped neurons is added to the bias.

    Args:
        wide: Of hidden size H.
        basis: Orthonormal columns. Shape: (H, h).
        inputs: States that the block receives for real text. Shape: (tokens, H).
        activation: The block's.
        neurons: Number of neurons to keep.
    """
    active = activation(inputs @ wide.up.T + wide.up_bias)
    importance = active.std(0) * wide.down.norm(dim=0)
    kept = importance.topk(neurons).indices.sort().values
    dropped = torch.ones(len(importance), dtype=torch.bool)
    dropped[kept] = False
    constant = wide.down[:, dropped] @ active[:, dropped].mean(0)
    return FeedForwardWeights(
        up=wide.up[kept] @ basis,
        up_bias=wide.up_bias[kept],
        down=basis.T @ wide.down[:, kept],
        down_bias=basis.T @ (wide.down_bias + constant),
    )
