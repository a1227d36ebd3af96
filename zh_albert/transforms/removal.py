"""Physical removal of heads, neurons and dimensions that nothing reads.

A head is removed where its columns of ``dense`` are 0, a neuron where its column of ``down`` is, a
dimension of the word vectors where its column of the projection is. The first two change nothing
in the outputs. A dimension of google's layout takes part in a norm, so the norm runs over fewer
numbers without it; its gain and bias are fitted to make up for that, which is close, not exact.
The masked-LM head writes into the same dimensions and loses them, too.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from zh_albert.errors import ConfigError
from zh_albert.model.encoder import encoder_of
from zh_albert.model.fitted_norm import fit_norm
from zh_albert.model.sharing import head_size_of
from zh_albert.transforms.gates import Gated, Kind, gated_parts


def close_least(
    network: nn.Module, importance: Mapping[tuple[Kind, int], Tensor], kept: Mapping[Kind, float]
) -> None:
    """Set to 0 what reads the least important heads, neurons or dimensions, in place.

    Args:
        network: Has an ``encoder``.
        importance: By kind and block. Shape of each: (gates,).
        kept: The share of each kind that stays, of all blocks together; each block keeps one.
    """
    for kind, share in kept.items():
        parts = list(gated_parts(network, [kind]))
        scores = [importance[kind, part.block].clone() for part in parts]
        for score in scores:
            score[score.argmax()] = float("inf")  # the last of a block stays
        together = torch.cat(scores)
        stay = max(round(share * len(together)), len(parts))
        closed = torch.zeros_like(together, dtype=torch.bool)
        closed[together.argsort(stable=True)[: len(together) - stay]] = True
        by_part = closed.split_with_sizes([part.gates for part in parts])
        for part, shut in zip(parts, by_part, strict=True):
            with torch.no_grad():
                part.module.weight[:, shut.repeat_interleave(part.width)] = 0


def for_each_run(
    network: Any, importance: Mapping[tuple[Kind, int], Tensor]
) -> dict[tuple[Kind, int], Tensor]:
    """Return the importance of gates for each of the layers that run their block.

    A gate of a block that several layers run costs the time of all of them.

    Args:
        network: An encoder, or a network with an ``encoder``.
        importance: By kind and block, of all layers together. Shape of each: (gates,).
    """
    plan = encoder_of(network).plan
    runs: Mapping[Kind, Counter[int]] = {
        "heads": Counter(layer.attention for layer in plan),
        "neurons": Counter(layer.ffn for layer in plan),
        "embeddings": Counter([0]),  # the word table is read once
    }
    return {(kind, block): sums / runs[kind][block] for (kind, block), sums in importance.items()}


def close_rare_words(
    network: Any, counts: Mapping[int, int], kept: float, special: Collection[int]
) -> None:
    """Set the vectors of all but the most frequent words to 0, in place.

    Args:
        network: Has an ``encoder``.
        counts: How often each id occurs in texts.
        kept: The share of the vocabulary that stays; of equally rare words the first ones.
        special: Ids that stay whatever they count.
    """
    table = network.encoder.embeddings.word.weight
    rows = sorted(range(len(table)), key=lambda row: (row not in special, -counts.get(row, 0)))
    with torch.no_grad():
        table[rows[max(round(kept * len(table)), len(special)) :]] = 0


def open_gates(part: Gated) -> Tensor:
    """Return which gates of a matrix have a column that is not 0. Shape: (gates,), bool."""
    columns = (part.module.weight.detach() != 0).any(0)
    return columns.view(-1, part.width).any(1)


def without_closed(network: Any) -> Any:
    """Return a copy of a network without heads, neurons and dimensions that nothing reads.

    Args:
        network: An encoder, or a network with an ``encoder``.

    Raises:
        ConfigError: If a block would keep nothing.
    """
    smaller = copy.deepcopy(network)
    encoder: Any = encoder_of(smaller)
    heads, neurons = [], []
    for part in gated_parts(smaller, ("heads", "neurons", "embeddings")):
        kept = open_gates(part)
        if not kept.any():
            raise ConfigError(
                f"removal: all {part.kind} of block {part.block} are closed; keep a larger share"
            )
        columns = kept.repeat_interleave(part.width)
        match part.kind:
            case "heads":
                block = encoder.attention[part.block]
                heads.append(int(kept.sum()))
                block.heads = heads[-1]
                for linear in (block.query, block.key, block.value):
                    _keep_rows(linear, columns)
            case "neurons":
                neurons.append(int(kept.sum()))
                _keep_rows(encoder.ffn[part.block].up, columns)
            case "embeddings" if not kept.all():
                _keep_dimensions(encoder.embeddings, kept)
                head = getattr(smaller, "masked_lm", None)
                if head is not None and not encoder.embeddings.projects_first:
                    _keep_rows(head.dense, kept)
                    _keep_normed(head.norm, kept)
        _keep_columns(part.module, columns)
    sizes = encoder.config
    all_heads = set(heads) == {sizes.num_attention_heads} and not sizes.head_size
    encoder.config = replace(
        sizes,
        embedding_size=encoder.embeddings.word.embedding_dim,
        head_size=None if all_heads else head_size_of(sizes),
        block_heads=() if all_heads else tuple(heads),
        block_neurons=() if set(neurons) == {sizes.intermediate_size} else tuple(neurons),
    )
    return smaller


def _keep_rows(linear: nn.Linear, kept: Tensor) -> None:
    linear.weight = nn.Parameter(linear.weight.detach()[kept])
    linear.bias = nn.Parameter(linear.bias.detach()[kept])
    linear.out_features = int(kept.sum())


def _keep_columns(linear: nn.Linear, kept: Tensor) -> None:
    linear.weight = nn.Parameter(linear.weight.detach()[:, kept])
    linear.in_features = int(kept.sum())


def _keep_dimensions(embeddings: Any, kept: Tensor) -> None:
    tables = [embeddings.word]
    if not embeddings.projects_first:
        tables += [embeddings.position, embeddings.token_type]
        position, kind = embeddings.position.weight.mean(0), embeddings.token_type.weight[0]
        rows = (embeddings.word.weight + position + kind).detach()
        wanted = embeddings.norm(rows).detach()[:, kept]
        _keep_normed(embeddings.norm, kept)
        narrow = embeddings.norm
        plain = nn.functional.layer_norm(rows[:, kept], narrow.normalized_shape, eps=narrow.eps)
        fit_norm(narrow, plain, wanted)
    for table in tables:
        table.weight = nn.Parameter(table.weight.detach()[:, kept])
        table.embedding_dim = int(kept.sum())


def _keep_normed(norm: nn.LayerNorm, kept: Tensor) -> None:
    norm.weight, norm.bias = (nn.Parameter(one.detach()[kept]) for one in (norm.weight, norm.bias))
    norm.normalized_shape = (int(kept.sum()),)
