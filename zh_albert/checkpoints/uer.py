"""Checkpoints of UER-py and TencentPretrain (read only).

Several generations of names are in use. Type 0 of three is padding there and is dropped. Their norm
divides by a standard deviation that counts one element less (7 in 10,000 at width 768), which their
own converters ignore; here its weights are made smaller by as much, so the outputs are theirs.

Source: dbiir/UER-py, scripts/convert_albert_from_uer_to_huggingface.py, uer/utils/act_fun.py,
uer/layers/layer_norm.py; Tencent/TencentPretrain,
scripts/convert_tencentpretrain_from_old_to_new.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from zh_albert.checkpoints.sidecar_files import (
    build_config,
    read_sidecar_files,
    read_sizes,
    translate,
)
from zh_albert.checkpoints.stored_model import TIED_COPY, StoredModel, pretraining_names
from zh_albert.errors import CheckpointError
from zh_albert.model.config import AlbertConfig

# Older names, and the newest name of the same tensor.
_RENAMED = (
    (r"embedding\.word_embedding\.", "embedding.word.embedding."),
    (r"embedding\.position_embedding\.", "embedding.pos.embedding."),
    (r"embedding\.segment_embedding\.", "embedding.seg.embedding."),
    (r"target\.mlm_linear_(\d)\.", r"target.mlm.linear_\1."),
    (r"target\.layer_norm\.", "target.mlm.layer_norm."),
    (r"target\.(?:sp|sop|nsp)_linear_(\d)\.", r"target.sp.linear_\1."),
)
_WORDS = "embedding.word.embedding.weight"
_POSITIONS = "embedding.pos.embedding.weight"
_TYPES = "embedding.seg.embedding.weight"
_ROWS = {"vocab_size": _WORDS, "max_position_embeddings": _POSITIONS, "type_vocab_size": _TYPES}
# Ours, theirs, without block numbers and the suffix.
_MODULES = {
    "encoder.embeddings.word": "embedding.word.embedding",
    "encoder.embeddings.position": "embedding.pos.embedding",
    "encoder.embeddings.token_type": "embedding.seg.embedding",
    "encoder.embeddings.norm": "embedding.layer_norm",
    "encoder.embeddings.projection": "encoder.linear",
    "encoder.attention.query": "encoder.transformer.self_attn.linear_layers.0",
    "encoder.attention.key": "encoder.transformer.self_attn.linear_layers.1",
    "encoder.attention.value": "encoder.transformer.self_attn.linear_layers.2",
    "encoder.attention.dense": "encoder.transformer.self_attn.final_linear",
    "encoder.attention.norm": "encoder.transformer.layer_norm_1",
    "encoder.ffn.up": "encoder.transformer.feed_forward.linear_1",
    "encoder.ffn.down": "encoder.transformer.feed_forward.linear_2",
    "encoder.ffn.norm": "encoder.transformer.layer_norm_2",
    "encoder.pooler": "target.sp.linear_1",
    "masked_lm.dense": "target.mlm.linear_1",
    "masked_lm.norm": "target.mlm.layer_norm",
    "masked_lm": "target.mlm.linear_2",
    "sentence_order.classifier": "target.sp.linear_2",
}
_NEEDED = ("heads_num", "layers_num", "hidden_act", "hidden_size", "feedforward_size")
# Settings that change what the tensors mean, and the value that ours have.
_ONLY = {
    "layernorm_positioning": "post",  # their pre-norm encoder ends with a norm
    "layernorm": "normal",
    "mask": "fully_visible",
    "feed_forward": "dense",
    "remove_attention_scale": False,
    "has_residual_attention": False,
}
_ACTIVATIONS = {"gelu": "gelu", "gelu_fast": "gelu_new", "relu": "relu"}


def is_uer(names: Iterable[str]) -> bool:
    """Return whether a file's tensors have the names of these projects."""
    return _WORDS in {_newest(name) for name in names}


def read_uer(path: Path, tensors: Mapping[str, Tensor]) -> StoredModel:
    """Return the model of a checkpoint's tensors and sidecar files.

    Args:
        path: The checkpoint; its JSON configuration is in the same folder.
        tensors: By their names.

    Raises:
        CheckpointError: If the configuration is missing or cannot be used, or the model is not an
            ALBERT.
    """
    stored = {_newest(name): tensor for name, tensor in tensors.items()}
    if "encoder.linear.weight" not in stored:
        raise CheckpointError(
            f"{path}: not an ALBERT checkpoint: expected encoder.linear.weight, the projection "
            "from embedding size to hidden size; only ALBERT models can be opened"
        )
    _refuse_other_shapes(path, tensors, stored)
    notes = []
    if _TYPES in stored:
        notes.append(f"left out: row 0 of {_TYPES}, the type of padding")
        stored[_TYPES] = stored[_TYPES][1:]
    for name, tensor in stored.items():
        if name.endswith(".gamma") and tensor.is_floating_point():
            stored[name] = tensor * math.sqrt(1 - 1 / max(tensor.numel(), 1))
    config = _read_config(path, stored)
    theirs = {name: _uer_name(name, config) for name in pretraining_names(config)}
    ours = {name: our for our, name in theirs.items()}
    # The output matrix, which is the word table if both are tied.
    ours["target.mlm.linear_2.weight"] = f"encoder.embeddings.word.weight{TIED_COPY}"
    original = {_newest(name): name for name in tensors}

    def name_there(name: str) -> str:
        newest = theirs.get(name, name)
        return original.get(newest, newest)

    return StoredModel(
        source=path,
        config=config,
        tensors={ours.get(name, name): tensor for name, tensor in stored.items()},
        name_there=name_there,
        task={"name": "encoder"} if "target.mlm.linear_2.bias" in stored else {},
        files=read_sidecar_files(path.parent),
        notes=notes,
    )


def _refuse_other_shapes(
    path: Path, tensors: Mapping[str, Tensor], stored: Mapping[str, Tensor]
) -> None:
    """Check that no two names mean the same tensor, and that sizes can be read from tables."""
    if len(stored) < len(tensors):
        twice = [name for name in tensors if _newest(name) != name and _newest(name) in tensors]
        raise CheckpointError(
            f"{path}: expected the names of one version, found {', '.join(twice[:3])} under newer "
            "names, too; save one model alone"
        )
    for name in (*_ROWS.values(), "encoder.linear.weight"):
        if name in stored and stored[name].ndim != 2:
            raise CheckpointError(
                f"{path}: {name}: expected a matrix, found shape {tuple(stored[name].shape)}; get "
                "the checkpoint again"
            )


def _newest(name: str) -> str:
    for pattern, newest in _RENAMED:
        name = re.sub(f"^{pattern}", newest, name)
    return name


def _uer_name(name: str, config: AlbertConfig) -> str:
    """Return their newest name of a tensor of ours."""
    module, _, kind = name.rpartition(".")
    block = re.search(r"\.(\d+)\.", name)
    theirs = _MODULES[re.sub(r"\.\d+\.", ".", module)]
    if block and config.sharing == "none":
        theirs = theirs.replace("transformer.", f"transformer.{block[1]}.")
    if module.endswith("norm"):
        kind = {"weight": "gamma", "bias": "beta"}[kind]
    return f"{theirs}.{kind}"


def _read_config(path: Path, stored: Mapping[str, Tensor]) -> AlbertConfig:
    content, source = read_sizes(path, _NEEDED)
    for name, value in _ONLY.items():
        if content.get(name, value) != value:
            raise CheckpointError(
                f"{source}: {name} must be {value!r}, found {content[name]!r:.80}; an encoder of "
                "that kind cannot be computed here"
            )
    own_layers = any(re.match(r"encoder\.transformer\.\d+\.", name) for name in stored)
    values: dict[str, Any] = {
        field: len(stored[name]) for field, name in _ROWS.items() if name in stored
    }
    values |= {
        "embedding_size": stored["encoder.linear.weight"].shape[-1],
        "hidden_size": content["hidden_size"],
        "num_hidden_layers": content["layers_num"],
        "num_attention_heads": content["heads_num"],
        "intermediate_size": content["feedforward_size"],
        "hidden_act": translate(content["hidden_act"], _ACTIVATIONS, "hidden_act", source),
        "hidden_dropout_prob": content.get("dropout", 0.0),
        "attention_probs_dropout_prob": content.get("dropout", 0.0),
        "sharing": "none" if own_layers else "all",
    }
    return build_config(values, source)
