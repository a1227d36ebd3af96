"""Parameter sharing as plain data: the blocks that each layer runs, and their sizes; no torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from zh_albert.model.config import AlbertConfig, Sharing


class LayerBlocks(NamedTuple):
    """Numbers of the attention block and the feed-forward block of one layer."""

    attention: int
    ffn: int


def plan_of(config: AlbertConfig) -> tuple[LayerBlocks, ...]:
    """Return the blocks that each layer of a config runs: its own plan, or that of its sharing.

    Whatever depends on how layers share asks here: the encoder, counts, conversion. Layers that are
    LSTMs run none of these blocks.
    """
    if config.layer == "lstm":
        return ()
    if config.plan:
        return tuple(LayerBlocks(*blocks) for blocks in config.plan)
    return sharing_plan(config.sharing, config.num_hidden_layers, config.num_hidden_groups)


def heads_of(config: AlbertConfig) -> tuple[int, ...]:
    """Return the number of heads of each attention block."""
    blocks = {layer.attention for layer in plan_of(config)}
    return config.block_heads or (config.num_attention_heads,) * len(blocks)


def neurons_of(config: AlbertConfig) -> tuple[int, ...]:
    """Return the intermediate size of each feed-forward block."""
    blocks = {layer.ffn for layer in plan_of(config)}
    return config.block_neurons or (config.intermediate_size,) * len(blocks)


def head_size_of(config: AlbertConfig) -> int:
    """Return the width of one attention head."""
    return config.head_size or config.hidden_size // config.num_attention_heads


def unshared(config: AlbertConfig) -> AlbertConfig:
    """Return a config whose layers have blocks of their own, of the sizes of those they run."""
    plan = plan_of(config)
    heads, neurons = config.block_heads, config.block_neurons
    return replace(
        config,
        sharing="none",
        num_hidden_groups=1,
        plan=(),
        block_heads=tuple(heads[layer.attention] for layer in plan) if heads else (),
        block_neurons=tuple(neurons[layer.ffn] for layer in plan) if neurons else (),
    )


def config_of_layers(config: AlbertConfig, layers: Sequence[int]) -> AlbertConfig:
    """Return a config of some of the layers, whose plan says how they share what they shared.

    Args:
        config: The whole encoder's.
        layers: Numbers of layers from 0, in the order in which they run; may repeat.
    """
    chosen = [plan_of(config)[layer] for layer in layers]
    attention = [*dict.fromkeys(blocks.attention for blocks in chosen)]
    ffn = [*dict.fromkeys(blocks.ffn for blocks in chosen)]
    heads, neurons = config.block_heads, config.block_neurons
    return replace(
        config,
        num_hidden_layers=len(chosen),
        plan=tuple((attention.index(b.attention), ffn.index(b.ffn)) for b in chosen),
        block_heads=tuple(heads[block] for block in attention) if heads else (),
        block_neurons=tuple(neurons[block] for block in ffn) if neurons else (),
    )


def sharing_plan(sharing: Sharing, num_layers: int, num_groups: int = 1) -> tuple[LayerBlocks, ...]:
    """Return the attention and the feed-forward block that each layer runs.

    The plan is plain data, so that nobody else interprets the strategy; see ``plan_of``.
    Parameters are shared within a group of neighbouring layers; blocks that are not shared belong
    to a single layer, whatever the groups.

    >>> sharing_plan("attention", 3)[2]
    LayerBlocks(attention=0, ffn=2)
    >>> [layer.ffn for layer in sharing_plan("all", 6, num_groups=2)]
    [0, 0, 0, 1, 1, 1]
    """
    shared = layer_groups(num_layers, num_groups)
    own = tuple(range(num_layers))
    attention = shared if sharing in ("all", "attention") else own
    ffn = shared if sharing in ("all", "ffn") else own
    return tuple(LayerBlocks(*blocks) for blocks in zip(attention, ffn, strict=True))


def layer_groups(num_layers: int, num_groups: int) -> tuple[int, ...]:
    """Return the group of each layer, numbered without gaps.

    >>> layer_groups(4, 12)  # the file's groups 0, 3, 6 and 9, see published_groups
    (0, 1, 2, 3)
    """
    groups = published_groups(num_layers, num_groups)
    used = sorted(set(groups))
    return tuple(used.index(group) for group in groups)


def published_groups(num_layers: int, num_groups: int) -> tuple[int, ...]:
    """Return the group of each layer as a published checkpoint numbers it.

    If groups outnumber the layers (albert_config_tiny_google_fast.json of albert_zh: 4 layers, 12
    groups), some of the file's groups are unused.

    >>> published_groups(4, 12)
    (0, 3, 6, 9)
    """
    return tuple(layer * num_groups // num_layers for layer in range(num_layers))
