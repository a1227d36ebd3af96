"""ALBERT as UER-py and TencentPretrain compute it, in numpy and float64, under their names.

Source: dbiir/UER-py: layer_norm.py, multi_headed_attn.py and transformer.py in uer/layers,
transformer_encoder.py in uer/encoders, mlm_target.py and sp_target.py in uer/targets,
uer/utils/act_fun.py.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.helpers.numpy_albert import IDS, TYPES, WORDS, Array, Outputs

EMBEDDING, HIDDEN, INNER, POSITIONS, HEADS, LAYERS = 6, 12, 19, 16, 2, 3
CONFIG = {
    "emb_size": EMBEDDING,
    "feedforward_size": INNER,
    "hidden_size": HIDDEN,
    "hidden_act": "relu",
    "heads_num": HEADS,
    "layers_num": LAYERS,
    "dropout": 0.0,
}
# Newest names, and beginnings of older ones, of each generation.
_OLD_TABLES = {
    "embedding.word.embedding": "embedding.word_embedding",
    "embedding.pos.embedding": "embedding.position_embedding",
    "embedding.seg.embedding": "embedding.segment_embedding",
}
_OLD_NORM = {"target.mlm.layer_norm": "target.layer_norm"}
_OLD_MASKED = {"target.mlm.linear": "target.mlm_linear"}
GENERATIONS = {
    "oldest": {**_OLD_TABLES, **_OLD_NORM, **_OLD_MASKED, "target.sp.linear": "target.sop_linear"},
    "old": {**_OLD_TABLES, **_OLD_NORM, **_OLD_MASKED, "target.sp.linear": "target.sp_linear"},
    "between": _OLD_NORM,
    "newest": {},
}
ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: x * 0.5 * (1.0 + np.vectorize(math.erf)(x / math.sqrt(2.0))),
    "gelu_fast": lambda x: (
        0.5 * x * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))
    ),
}


def random_tensors(*, own_layers: bool = False) -> dict[str, Array]:
    """Return a checkpoint's tensors by their newest names, float32."""
    draw = np.random.default_rng(0)
    tensors: dict[str, Any] = {}

    def add(name: str, *shape: int) -> None:
        tensors[name] = draw.normal(scale=0.5, size=shape).astype(np.float32)

    def add_linear(name: str, inputs: int, outputs: int) -> None:
        add(f"{name}.weight", outputs, inputs)
        add(f"{name}.bias", outputs)

    def add_norm(name: str, width: int) -> None:
        add(f"{name}.gamma", width)
        add(f"{name}.beta", width)

    add("embedding.word.embedding.weight", len(WORDS), EMBEDDING)
    add("embedding.pos.embedding.weight", POSITIONS, EMBEDDING)
    add("embedding.seg.embedding.weight", 3, EMBEDDING)
    add_norm("embedding.layer_norm", EMBEDDING)
    add_linear("encoder.linear", EMBEDDING, HIDDEN)
    for scope in {_scope(layer, own_layers): None for layer in range(LAYERS)}:
        for number in range(3):
            add_linear(f"{scope}.self_attn.linear_layers.{number}", HIDDEN, HIDDEN)
        add_linear(f"{scope}.self_attn.final_linear", HIDDEN, HIDDEN)
        add_norm(f"{scope}.layer_norm_1", HIDDEN)
        add_linear(f"{scope}.feed_forward.linear_1", HIDDEN, INNER)
        add_linear(f"{scope}.feed_forward.linear_2", INNER, HIDDEN)
        add_norm(f"{scope}.layer_norm_2", HIDDEN)
    add_linear("target.mlm.linear_1", HIDDEN, EMBEDDING)
    add_norm("target.mlm.layer_norm", EMBEDDING)
    add_linear("target.mlm.linear_2", EMBEDDING, len(WORDS))
    tensors["target.mlm.linear_2.weight"] = tensors["embedding.word.embedding.weight"].copy()
    add_linear("target.sp.linear_1", HIDDEN, HIDDEN)
    add_linear("target.sp.linear_2", HIDDEN, 2)
    return tensors


def renamed(tensors: dict[str, Array], generation: str) -> dict[str, Array]:
    """Return tensors under the names of a generation."""
    result = {}
    for name, tensor in tensors.items():
        for newest, older in GENERATIONS[generation].items():
            if name.startswith(newest):
                name = older + name.removeprefix(newest)  # noqa: PLW2901
        result[name] = tensor
    return result


def outputs(
    tensors: dict[str, Array], activation: str, ids: Array = IDS, types: Array = TYPES
) -> Outputs:
    """Return what the model says; row 0 of the vocabulary is padding."""
    at = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
    own_layers = "encoder.transformer.0.layer_norm_1.gamma" in at
    act = ACTIVATIONS[activation]
    mask = ids != 0
    segments = np.where(mask, types + 1, 0)  # 0 is padding
    hidden = at["embedding.word.embedding.weight"][ids]
    hidden = hidden + at["embedding.pos.embedding.weight"][: ids.shape[1]]
    hidden = hidden + at["embedding.seg.embedding.weight"][segments]
    hidden = _linear(at, "encoder.linear", _norm(at, "embedding.layer_norm", hidden))
    for layer in range(LAYERS):
        scope = _scope(layer, own_layers)
        inter = _attention(at, f"{scope}.self_attn", hidden, mask)
        inter = _norm(at, f"{scope}.layer_norm_1", inter + hidden)
        wide = act(_linear(at, f"{scope}.feed_forward.linear_1", inter))
        fed = _linear(at, f"{scope}.feed_forward.linear_2", wide)
        hidden = _norm(at, f"{scope}.layer_norm_2", fed + inter)
    masked = act(_linear(at, "target.mlm.linear_1", hidden))
    masked = _linear(at, "target.mlm.linear_2", _norm(at, "target.mlm.layer_norm", masked))
    pooled = np.tanh(_linear(at, "target.sp.linear_1", hidden[:, 0]))
    return Outputs(hidden, masked, _linear(at, "target.sp.linear_2", pooled))


def _scope(layer: int, own_layers: bool) -> str:
    return f"encoder.transformer.{layer}" if own_layers else "encoder.transformer"


def _linear(at: dict[str, Array], name: str, source: Array) -> Array:
    return source @ at[f"{name}.weight"].T + at[f"{name}.bias"]


def _norm(at: dict[str, Array], name: str, source: Array) -> Array:
    mean = source.mean(-1, keepdims=True)
    deviation = source.std(-1, keepdims=True, ddof=1)  # torch.std counts one element less
    return at[f"{name}.gamma"] * (source - mean) / (deviation + 1e-6) + at[f"{name}.beta"]


def _attention(at: dict[str, Array], scope: str, source: Array, mask: Array) -> Array:
    batch, length, _ = source.shape
    query, key, value = (
        _linear(at, f"{scope}.linear_layers.{number}", source)
        .reshape(batch, length, HEADS, HIDDEN // HEADS)
        .transpose(0, 2, 1, 3)
        for number in range(3)
    )
    scores = query @ key.transpose(0, 1, 3, 2) / math.sqrt(HIDDEN // HEADS)
    scores = scores - 10_000.0 * ~mask[:, None, None, :]
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True)
    attended = (weights @ value).transpose(0, 2, 1, 3).reshape(batch, length, HIDDEN)
    return _linear(at, f"{scope}.final_linear", attended)
