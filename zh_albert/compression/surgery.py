"""Smaller networks from trained ones, without training: fewer layers or blocks, narrower parts.

Where layers share parameters, fewer layers take less time but have as many parameters; fewer blocks
have fewer parameters and take as much time.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from sklearn.cluster import AgglomerativeClustering
from torch import Tensor, nn

from zh_albert.compression.recipe import CutConfig
from zh_albert.distillation.student import CalibrationBatch, narrow_embeddings
from zh_albert.distillation.width_reduction import (
    average,
    read_attention,
    reduced_attention,
    write_linears,
)
from zh_albert.errors import ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder, encoder_of
from zh_albert.model.layer import AttentionBlock
from zh_albert.model.layer_map import layer_map
from zh_albert.model.lstm_encoder import build_encoder
from zh_albert.model.sharing import (
    LayerBlocks,
    config_of_layers,
    head_size_of,
    heads_of,
    plan_of,
    sharing_plan,
)


def kept_layers(
    layers: int | Sequence[int], choice: str, total: int, rates: Any = None
) -> tuple[int, ...]:
    """Return which layers stay, counted from 1.

    Args:
        layers: How many, or their numbers.
        choice: ``even`` (up to the top), ``first``, ``last`` or ``learned``; of a number only.
        total: Layers that there are.
        rates: The model's learned drop rates, for ``learned``: those with the lowest stay, of equal
            ones the upper.

    Raises:
        ConfigError: If there are not so many, or not in ascending order, or no rates.

    >>> kept_layers(3, "even", 6)
    (2, 4, 6)
    """
    if isinstance(layers, int):
        if not 1 <= layers <= total:
            raise ConfigError(
                f"cut.layers must be from 1 to {total}, the model's layers; got {layers}"
            )
        if choice == "first":
            return tuple(range(1, layers + 1))
        if choice == "last":
            return tuple(range(total - layers + 1, total + 1))
        if choice == "learned":
            if not (
                isinstance(rates, list)
                and len(rates) == total
                and all(isinstance(rate, float) for rate in rates)
            ):
                raise ConfigError(
                    "cut.choice = 'learned' keeps the layers with the lowest learned drop rates: "
                    f"expected a model with {total} of them in its config.json, found "
                    f"{rates!r:.60}; train it with drop.learned = true, or choose even"
                )
            ranked = sorted(range(total), key=lambda layer: (rates[layer], -layer))
            return tuple(sorted(layer + 1 for layer in ranked[:layers]))
        return tuple(theirs for _, theirs in layer_map(layers, total))
    numbers = tuple(layers)
    if sorted(set(numbers)) != list(numbers) or not 1 <= numbers[0] <= numbers[-1] <= total:
        raise ConfigError(
            f"cut.layers: expected layers from 1 to {total} in ascending order, found "
            f"{list(numbers)}"
        )
    return numbers


def searched_layers(
    layers: int, total: int, score: Callable[[tuple[int, ...]], float]
) -> tuple[int, ...]:
    """Return the layers left after those were taken out, one by one, that the score misses least.

    Source: Fan et al. 2020 (arXiv:1909.11556), section 3.2, a search over sub-networks.

    Args:
        layers: How many stay.
        total: How many there are.
        score: Of a network with some of the layers; higher is better.
    """
    kept_layers(layers, "even", total)
    kept = tuple(range(1, total + 1))
    while len(kept) > layers:
        candidates = [tuple(n for n in kept if n != out) for out in kept]
        kept = max(candidates, key=score)
    return kept


def with_cut_layers(network: Any, config: CutConfig, layers: Sequence[int] | None) -> Any:
    """Return a network with what a config cuts of its layers; the same one if that is nothing.

    Args:
        network: An encoder, or a network with an ``encoder``.
        config: Says how many blocks stay, and the rank of heads.
        layers: Those that stay, counted from 1; None: all.
    """
    if layers is not None:
        network = with_layers_kept(network, layers)
    if config.groups is not None:
        network = with_groups(network, config.groups)
    if config.head_size is not None:
        network = with_head_size(network, config.head_size)
    return network


def with_layers_kept(network: Any, layers: Sequence[int]) -> Any:
    """Return a copy of a network that runs only some of its layers.

    Args:
        network: An encoder, or a network with an ``encoder``.
        layers: Counted from 1, in the order in which they run; may repeat.
    """
    smaller = copy.deepcopy(network)
    encoder = encoder_of(smaller)
    kept = [layer - 1 for layer in layers]
    for name in ("attention", "ffn"):
        used = dict.fromkeys(getattr(encoder.plan[layer], name) for layer in kept)
        setattr(encoder, name, nn.ModuleList(getattr(encoder, name)[number] for number in used))
    encoder.config = _config_of(config_of_layers(encoder.config, kept))
    encoder.plan = plan_of(encoder.config)
    return smaller


def _config_of(config: AlbertConfig) -> AlbertConfig:
    """Return the config without a plan of its own, if a strategy of sharing makes the same."""
    layers = config.num_hidden_layers
    if config.plan == sharing_plan("none", layers):
        return replace(config, plan=(), sharing="none", num_hidden_groups=layers)
    for sharing in ("all", "attention", "ffn"):
        for groups in range(1, layers):
            if config.plan == sharing_plan(sharing, layers, groups):
                return replace(config, plan=(), sharing=sharing, num_hidden_groups=groups)
    return config


def with_groups(network: Any, groups: int) -> Any:
    """Return a copy of a network whose most similar blocks are one: their mean.

    Blocks are grouped by the cosine of all their weights (average linkage), attention and
    feed-forward blocks of a layer together.

    Args:
        network: An encoder, or a network with an ``encoder``, whose blocks have the same sizes.
        groups: How many blocks stay.

    Raises:
        ConfigError: If it has fewer blocks, or blocks of several sizes.
    """
    encoder = encoder_of(network)
    pairs = [*dict.fromkeys(encoder.plan)]
    if not 1 <= groups <= len(pairs):
        raise ConfigError(
            f"cut.groups must be from 1 to {len(pairs)}, the model's blocks; got {groups}"
        )
    if len(set(encoder.config.block_heads)) > 1 or len(set(encoder.config.block_neurons)) > 1:
        raise ConfigError("cut.groups: blocks were pruned to several sizes; group them before that")
    if groups == len(pairs):
        return copy.deepcopy(network)
    clustering = AgglomerativeClustering(groups, metric="cosine", linkage="average")
    labels = clustering.fit_predict(np.stack([_flat(encoder, pair) for pair in pairs]))
    merged = copy.deepcopy(network)
    ours = encoder_of(merged)
    group = [[*dict.fromkeys(labels)].index(label) for label in labels]
    alike = [[p for p, own in zip(pairs, group, strict=True) if own == n] for n in range(groups)]
    ours.attention, attention = _means(encoder.attention, [[p.attention for p in a] for a in alike])
    ours.ffn, ffn = _means(encoder.ffn, [[p.ffn for p in a] for a in alike])
    blocks = {p: (attention[n], ffn[n]) for p, n in zip(pairs, group, strict=True)}
    config = encoder.config
    ours.config = _config_of(
        replace(
            config,
            plan=tuple(blocks[pair] for pair in encoder.plan),
            block_heads=config.block_heads[:1] * len(ours.attention),
            block_neurons=config.block_neurons[:1] * len(ours.ffn),
        )
    )
    ours.plan = plan_of(ours.config)
    return merged


def _means(blocks: nn.ModuleList, groups: Sequence[Sequence[int]]) -> tuple[Any, list[int]]:
    """Return the mean of the blocks of each group, and the number of each group's mean.

    Groups of the same blocks, as where all layers share one, share their mean.
    """
    of_each = [tuple(dict.fromkeys(group)) for group in groups]
    different = [*dict.fromkeys(of_each)]
    means = nn.ModuleList(copy.deepcopy(blocks[own[0]]) for own in different)
    for own, mean in zip(different, means, strict=True):
        average(mean, [blocks[number] for number in own])
    return means, [different.index(own) for own in of_each]


def _flat(encoder: AlbertEncoder, pair: LayerBlocks) -> Any:
    blocks = encoder.attention[pair.attention], encoder.ffn[pair.ffn]
    parts = [p.detach().flatten() for block in blocks for p in block.parameters()]
    return torch.cat(parts).numpy()


def with_embedding_size(network: Any, size: int, token_ids: Tensor) -> Any:
    """Return a copy of a network with a narrower word table and a fitted projection.

    The table is cut to its principal directions, by the frequency of words in the texts, and the
    projection fitted to the embeddings of the texts by least squares.

    Args:
        network: An encoder, or a network with an ``encoder``, in google's layout, without a
            masked-LM head, which writes into the width of the table.
        size: New width of the table.
        token_ids: Texts, cut to one length. Shape: (texts, length).

    Raises:
        ConfigError: If the table is not wider, or has another layout.
    """
    smaller = copy.deepcopy(network)
    encoder = encoder_of(smaller)
    sizes = encoder.config
    _refuse_not_below("embedding_size", size, sizes.embedding_size)
    if sizes.embedding_layout != "google":
        raise ConfigError("cut.embedding_size needs the google layout; convert the model first")
    if hasattr(smaller, "masked_lm"):
        raise ConfigError(
            "cut.embedding_size: a masked-LM head writes into the width of the word table; distil "
            "a student with another encoder.embedding_size instead"
        )
    narrow = build_encoder(replace(sizes, embedding_size=size)).eval()
    counts = torch.bincount(token_ids.flatten(), minlength=sizes.vocab_size) + 0.5
    teacher = encoder_of(network)
    narrow_embeddings(narrow, teacher, CalibrationBatch(teacher, token_ids), counts / counts.sum())
    encoder.embeddings, encoder.config = narrow.embeddings, narrow.config
    return smaller


def with_head_size(network: Any, size: int) -> Any:
    """Return a copy of a network whose attention heads are of lower rank.

    What a head computes depends on two products only, of query and key and of value and output.
    Each is cut to its largest singular values, so all four matrices get smaller and stay ordinary
    ones: nothing else of the model changes.

    Args:
        network: An encoder, or a network with an ``encoder``.
        size: New width of a head, the rank of both products.

    Raises:
        ConfigError: If the heads are not wider.
    """
    smaller = copy.deepcopy(network)
    encoder = encoder_of(smaller)
    sizes = encoder.config
    width = head_size_of(sizes)
    _refuse_not_below("head_size", size, width)
    encoder.config = replace(sizes, head_size=size)
    whole = torch.eye(sizes.hidden_size)
    for number, heads in enumerate(heads_of(sizes)):
        block: Any = encoder.attention[number]
        wide = read_attention(block)
        narrow = reduced_attention(wide, whole, heads=heads, head_size=size)
        ours = AttentionBlock(encoder.config, heads)
        write_linears(ours, narrow)
        ours.norm = block.norm
        encoder.attention[number] = ours.train(block.training)
    return smaller


def with_positions(network: Any, count: int) -> Any:
    """Return a copy of a network that reads at most so many tokens at a time.

    Args:
        network: An encoder, or a network with an ``encoder``.
        count: Positions that stay, the first ones.

    Raises:
        ConfigError: If it has no more.
    """
    smaller = copy.deepcopy(network)
    encoder = encoder_of(smaller)
    positions: nn.Embedding = encoder.embeddings.position
    _refuse_not_below("positions", count, positions.num_embeddings)
    positions.weight = nn.Parameter(positions.weight.detach()[:count].clone())
    positions.num_embeddings = count
    encoder.config = replace(encoder.config, max_position_embeddings=count)
    return smaller


def _refuse_not_below(name: str, size: int, theirs: int) -> None:
    if not 1 <= size < theirs:
        raise ConfigError(f"cut.{name} must be below {theirs}, the model's; got {size}")
