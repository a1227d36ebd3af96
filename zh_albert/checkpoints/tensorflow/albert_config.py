"""``albert_config.json``, the sizes beside a checkpoint of google's and brightmart's releases.

No tensor shows the number of heads, the groups of layers that share parameters, and the activation.
All other sizes are taken from the tensors.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from zh_albert.checkpoints.sidecar_files import build_config, translate
from zh_albert.checkpoints.tensorflow.names import POSITIONS, TOKEN_TYPES, WORDS, Layout
from zh_albert.errors import CheckpointError
from zh_albert.model.config import SAME_ACTIVATIONS, AlbertConfig, fields_of, is_pruned

FILE_NAME = "albert_config.json"
NEEDED = (
    "num_attention_heads",
    "num_hidden_layers",
    "hidden_act",
    "hidden_size",
    "intermediate_size",
)
_OPTIONAL = (
    "num_hidden_groups",
    "hidden_dropout_prob",
    "attention_probs_dropout_prob",
    "initializer_range",
    # Not in published files; TensorFlow's code accepts any field.
    "classifier_dropout_prob",
    "layer_norm_eps",
    "pad_token_id",
)
_ROWS = {
    "vocab_size": WORDS,
    "max_position_embeddings": POSITIONS,
    "type_vocab_size": TOKEN_TYPES,
}
_ACTIVATIONS = {"gelu": "gelu_new", "relu": "relu"}  # their "gelu" is the tanh form
# A config.json of transformers may stand beside a checkpoint; its names of that form.
_TANH_FORM = {"gelu_new": "gelu_new"} | {
    name: ours for name, ours in SAME_ACTIVATIONS.items() if ours == "gelu_new"
}
_NORM_POSITIONS = {"postln": "post", "preln": "pre"}
_UNUSED = {"net_structure_type": 0, "gap_size": 0, "num_memory_blocks": 0, "down_scale_factor": 1}


def read_albert_config(
    content: Mapping[str, Any], source: Path, layout: Layout, tensors: Mapping[str, Tensor]
) -> AlbertConfig:
    """Return the config of a checkpoint.

    Args:
        content: Of the file; has all ``NEEDED`` fields.
        source: The file, named in errors.
        layout: Layout that the tensors' names show.
        tensors: By their names in the checkpoint.

    Raises:
        CheckpointError: If a value is unknown or inconsistent.
    """
    if content.get("inner_group_num", 1) != 1:
        raise CheckpointError(
            f"{source}: inner_group_num must be 1, found {content['inner_group_num']}; such a "
            "model cannot be opened here"
        )
    if content.get("net_structure_type"):
        raise CheckpointError(
            f"{source}: net_structure_type must be 0, found {content['net_structure_type']!r:.40}; "
            "published code has no other structure, nor has this project"
        )
    values = {name: content[name] for name in NEEDED}
    values |= {name: content[name] for name in _OPTIONAL if content.get(name) is not None}
    known = _ACTIVATIONS | _TANH_FORM
    values["hidden_act"] = translate(content["hidden_act"], known, "hidden_act", source)
    norm_position = "post"
    if layout.embedding_layout == "brightmart":  # google's code has no other position
        ln_type = content.get("ln_type") or "postln"
        norm_position = translate(ln_type, _NORM_POSITIONS, "ln_type", source)
    sharing = layout.sharing
    if values["num_hidden_layers"] == values.get("num_hidden_groups") != 1:
        sharing = "none"
    if sharing == "none":
        values.pop("num_hidden_groups", None)
    values |= {field: len(tensors[name]) for field, name in _ROWS.items() if name in tensors}
    if WORDS in tensors:
        values["embedding_size"] = tensors[WORDS].shape[-1]
    values |= {
        "embedding_layout": layout.embedding_layout,
        "norm_position": norm_position,
        "sharing": sharing,
    }
    return build_config(values, source)


def write_albert_config(config: AlbertConfig) -> str:
    """Return the file's content; ``albert_config_problems`` lists what it cannot express."""
    names = {theirs: ours for ours, theirs in _ACTIVATIONS.items()}
    norms = {theirs: ours for ours, theirs in _NORM_POSITIONS.items()}
    values = fields_of(config)
    sharing, layout = values.pop("sharing"), values.pop("embedding_layout")
    values["hidden_act"] = names[config.hidden_act]
    values["ln_type"] = norms[values.pop("norm_position")]
    if layout == "google":
        layers = config.num_hidden_layers
        groups = layers if sharing == "none" else min(config.num_hidden_groups, layers)
        values |= {"num_hidden_groups": groups, "inner_group_num": 1, **_UNUSED}
        del values["ln_type"]
    return json.dumps(values, indent=2, allow_nan=False) + "\n"


def albert_config_problems(config: AlbertConfig) -> list[str]:
    """List what the TensorFlow code of the config's embedding layout cannot compute."""
    google = config.embedding_layout == "google"
    reasons = {
        f"hidden_act {config.hidden_act!r}": config.hidden_act not in _ACTIVATIONS.values(),
        f"layer_norm_eps {config.layer_norm_eps}": config.layer_norm_eps != 1e-12,
        "norm_position 'pre' with embedding_layout 'google'": google
        and config.norm_position == "pre",
        "heads or neurons by block": is_pruned(config),
        "LSTM layers": config.layer == "lstm",
        "plan of layers with embedding_layout 'brightmart'": not google and config.plan != (),
        "projection between equal sizes": google and config.embedding_size == config.hidden_size,
        "groups of layers with embedding_layout 'brightmart'": not google
        and config.num_hidden_groups > 1
        and config.sharing != "none",
    }
    return [reason for reason, applies in reasons.items() if applies]
