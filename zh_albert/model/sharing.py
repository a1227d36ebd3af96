"""Parameter sharing as plain data: the blocks that each layer runs; no torch."""

from __future__ import annotations

from typing import NamedTuple

from zh_albert.model.config import Sharing


class LayerBlocks(NamedTuple):
    """Numbers of the attention block and the feed-forward block of one layer."""

    attention: int
    ffn: int


def sharing_plan(sharing: Sharing, num_layers: int, num_groups: int = 1) -> tuple[LayerBlocks, ...]:
    """Return the attention and the feed-forward block that each layer runs.

    The plan is plain data: the encoder, parameter counts and conversion all read it instead of
    interpreting the strategy themselves. Parameters are shared within a group of neighbouring
    layers; blocks that are not shared belong to a single layer, whatever the groups.

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
