"""Pretrained encoders for fine-tuning: a folder's encoder, whole or with fewer of its layers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import nn

from zh_albert.checkpoints.store import load_config, load_weights
from zh_albert.errors import ConfigError
from zh_albert.model.config import AlbertConfig, is_pruned
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.layer_map import layer_map
from zh_albert.model.lstm_encoder import build_encoder, refuse_lstm
from zh_albert.model.sharing import config_of_layers, layer_groups, plan_of


def with_layers(config: AlbertConfig, layers: int) -> AlbertConfig:
    """Return a config with fewer layers, which share parameters as the layers they are taken from.

    If neighbouring layers cannot share in this way, each layer has its own parameters.

    Raises:
        ConfigError: If the encoder has fewer layers, or its layers are LSTMs.
    """
    if not 1 <= layers <= config.num_hidden_layers:
        raise ConfigError(
            f"model.layers must be from 1 to {config.num_hidden_layers}, the encoder's layers; "
            f"got {layers}"
        )
    if config.layer == "lstm" and layers == config.num_hidden_layers:
        return config
    refuse_lstm(config, f"model.layers = {layers}")
    numbers = [theirs - 1 for _, theirs in layer_map(layers, config.num_hidden_layers)]
    if config.plan or is_pruned(config):
        return config_of_layers(config, numbers)
    plan = plan_of(config)
    chosen = [plan[number] for number in numbers]
    shared = [b.attention if config.sharing in ("all", "attention") else b.ffn for b in chosen]
    used = sorted(set(shared))
    groups = tuple(used.index(block) for block in shared)
    fits = groups == layer_groups(layers, len(used))
    number = len(used) if fits and config.sharing != "none" else layers
    return replace(config, num_hidden_layers=layers, num_hidden_groups=number)


def open_encoder(folder: Path) -> AlbertEncoder:
    """Return a folder's encoder, for evaluation; heads are ignored.

    Raises:
        CheckpointError: See ``load_weights``.
    """
    encoder = build_encoder(load_config(folder)[0])
    # A masked LM saved by ``transformers`` has no pooler.
    load_weights(encoder, folder, optional=("encoder.pooler.",), left_over="heads")
    return encoder.eval()


def load_encoder(module: Any, init: Path) -> None:
    """Load a network's encoder from a folder; heads of the folder are ignored.

    An encoder with fewer layers gets the embeddings and every n-th layer.

    Args:
        module: Has an ``encoder``.
        init: A model folder.

    Raises:
        CheckpointError: See ``load_weights``.
    """
    if module.encoder.config.num_hidden_layers == load_config(init)[0].num_hidden_layers:
        heads = {f"{name}." for name, _ in module.named_children() if name != "encoder"}
        pooler = ("encoder.pooler.",)
        load_weights(module, init, new=tuple(heads), optional=pooler, left_over="heads")
        return
    ours, whole = module.encoder, open_encoder(init)
    pairs: list[tuple[nn.Module, nn.Module]] = [
        (ours.embeddings, whole.embeddings),
        (ours.pooler, whole.pooler),
    ]
    for layer, theirs in layer_map(len(ours.plan), len(whole.plan)):
        mine, blocks = ours.plan[layer - 1], whole.plan[theirs - 1]
        pairs.append((ours.attention[mine.attention], whole.attention[blocks.attention]))
        pairs.append((ours.ffn[mine.ffn], whole.ffn[blocks.ffn]))
    for new, old in pairs:
        new.load_state_dict(old.state_dict())
