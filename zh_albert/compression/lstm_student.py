"""A student of another kind: bidirectional LSTMs over a trained model's embeddings.

Source: Tang et al. 2019 (arXiv:1903.12136).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from zh_albert.errors import ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.tasks.model import TaskModel


def lstm_sizes(config: AlbertConfig, layers: int, hidden_size: int | None = None) -> AlbertConfig:
    """Return the sizes of an encoder of LSTMs with the embeddings of another encoder.

    What only transformer layers have is 1, or as it is in a plain encoder.

    Args:
        config: The other encoder's.
        layers: LSTMs, one over the other.
        hidden_size: Of both directions together; None: the other encoder's width.
    """
    return replace(
        config,
        layer="lstm",
        num_hidden_layers=layers,
        hidden_size=hidden_size or config.hidden_size,
        num_hidden_groups=1,
        num_attention_heads=1,
        intermediate_size=1,
        sharing="all",
        norm_position="post",
        head_size=None,
        block_heads=(),
        block_neurons=(),
        plan=(),
    )


def lstm_network(
    model: TaskModel[Any, Any], layers: int, *, hidden_size: int | None = None, seed: int = 1
) -> Any:
    """Return a network for a model's task whose encoder is LSTMs over the model's embeddings.

    The embeddings' projection is the model's where the width stays; LSTMs and head are random.

    Args:
        model: Of any task; stays as it is.
        layers: See ``lstm_sizes``.
        hidden_size: See ``lstm_sizes``.
        seed: Of the random weights.

    Raises:
        ConfigError: If sizes cannot work.
    """
    sizes = lstm_sizes(model.config, layers, hidden_size)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed % 2**64)
        network: Any = model.network(sizes, {"name": model.name, **model.settings()})
    theirs = model.module.encoder.embeddings.state_dict()
    ours = network.encoder.embeddings.state_dict()
    same = {name: value for name, value in theirs.items() if value.shape == ours[name].shape}
    if "norm.weight" not in same:
        raise ConfigError(
            f"cut.hidden_size: in the brightmart layout positions and types have the model's width "
            f"{model.config.hidden_size}, got {hidden_size}; leave it out"
        )
    network.encoder.embeddings.load_state_dict({**ours, **same})
    return network.eval()
