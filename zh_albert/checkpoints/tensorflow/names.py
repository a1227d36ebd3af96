"""Tensor names in TensorFlow's ALBERT checkpoints, and the layout that they show.

Google's code has one scheme; brightmart's has another, in four kinds of sharing. In both, the
matrix of a dense layer is called ``kernel`` and is transposed relative to ours.

Source: google-research/albert, modeling.py and run_pretraining.py; brightmart/albert_zh,
modeling.py and modeling_preln.py (``layer_scope``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from zh_albert.model.config import AlbertConfig, EmbeddingLayout, Sharing
from zh_albert.model.sharing import published_groups

WORDS = "bert/embeddings/word_embeddings"
POSITIONS = "bert/embeddings/position_embeddings"
TOKEN_TYPES = "bert/embeddings/token_type_embeddings"  # noqa: S105  (not a password)
_BRIGHTMART_PROJECTION = "bert/embeddings/word_embeddings_2"

_TENSORS = {
    "encoder.embeddings.word.weight": WORDS,
    "encoder.embeddings.position.weight": POSITIONS,
    "encoder.embeddings.token_type.weight": TOKEN_TYPES,
    "masked_lm.bias": "cls/predictions/output_bias",
    "sentence_order.classifier.weight": "cls/seq_relationship/output_weights",
    "sentence_order.classifier.bias": "cls/seq_relationship/output_bias",
}
_MODULES = {
    "encoder.embeddings.norm": "bert/embeddings/LayerNorm",
    "encoder.pooler": "bert/pooler/dense",
    "masked_lm.dense": "cls/predictions/transform/dense",
    "masked_lm.norm": "cls/predictions/transform/LayerNorm",
}
# {n} is a block's number in the file; brightmart's scopes depend on what is shared.
_GROUP = "bert/encoder/transformer/group_{n}/inner_group_0"
_GOOGLE = {
    "encoder.embeddings.projection": "bert/encoder/embedding_hidden_mapping_in",
    "encoder.attention.query": f"{_GROUP}/attention_1/self/query",
    "encoder.attention.key": f"{_GROUP}/attention_1/self/key",
    "encoder.attention.value": f"{_GROUP}/attention_1/self/value",
    "encoder.attention.dense": f"{_GROUP}/attention_1/output/dense",
    "encoder.attention.norm": f"{_GROUP}/LayerNorm",
    "encoder.ffn.up": f"{_GROUP}/ffn_1/intermediate/dense",
    "encoder.ffn.down": f"{_GROUP}/ffn_1/intermediate/output/dense",
    "encoder.ffn.norm": f"{_GROUP}/LayerNorm_1",
}
_BRIGHTMART = {
    "encoder.attention.query": "{attention}/self/query",
    "encoder.attention.key": "{attention}/self/key",
    "encoder.attention.value": "{attention}/self/value",
    "encoder.attention.dense": "{attention}/output/dense",
    "encoder.attention.norm": "{attention}/output/LayerNorm",
    "encoder.ffn.up": "{intermediate}/dense",
    "encoder.ffn.down": "{output}/dense",
    "encoder.ffn.norm": "{output}/LayerNorm",
}
_SHARED_LAYER = "bert/encoder/layer_shared"
# Scope of attention; prefix of the feed-forward scopes.
_SCOPES: dict[Sharing, tuple[str, str]] = {
    "all": (f"{_SHARED_LAYER}/attention", f"{_SHARED_LAYER}/%s"),
    "attention": (f"{_SHARED_LAYER}/attention", f"{_SHARED_LAYER}/%s_{{n}}"),
    "ffn": (f"{_SHARED_LAYER}/attention_{{n}}", f"{_SHARED_LAYER}/%s"),
    "none": ("bert/encoder/layer_{n}/attention", "bert/encoder/layer_{n}/%s"),
}
_NUMBERED_LAYER = re.compile(r"bert/encoder/layer_\d+/")
_NUMBERED_PART = re.compile(rf"{_SHARED_LAYER}/(attention|intermediate)_\d+/")
# TF-Hub puts its module's name before all names; the scope is "bert" unless it was renamed.
_PREFIX = re.compile(r"^module(_\d+)?/")
_RENAMED_SCOPE = re.compile(r"^albert/")


class Layout(NamedTuple):
    """Layout that a checkpoint's names show; the fields are those of ``AlbertConfig``."""

    embedding_layout: EmbeddingLayout
    sharing: Sharing


def canonical_name(name: str) -> str:
    """Return a tensor's name as google's or brightmart's own scripts write it.

    >>> canonical_name("module/albert/pooler/dense/bias")
    'bert/pooler/dense/bias'
    """
    return _RENAMED_SCOPE.sub("bert/", _PREFIX.sub("", name))


def find_layout(names: Iterable[str]) -> Layout | None:
    """Return the layout, None if it is not an ALBERT."""
    names = set(names)
    if any(name.startswith("bert/encoder/transformer/group_") for name in names):
        return Layout("google", "all")
    if _BRIGHTMART_PROJECTION not in names:
        return None
    if any(_NUMBERED_LAYER.match(name) for name in names):
        return Layout("brightmart", "none")
    own = {match[1] for name in names if (match := _NUMBERED_PART.match(name))}
    sharing: dict[frozenset[str], Sharing] = {
        frozenset({"attention"}): "ffn",
        frozenset({"intermediate"}): "attention",
    }
    return Layout("brightmart", sharing.get(frozenset(own), "all"))


def tensorflow_name(name: str, config: AlbertConfig) -> str | None:
    """Return the TensorFlow name of a tensor of ours, None if it has none.

    >>> config = AlbertConfig(
    ...     hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=9)
    >>> tensorflow_name("encoder.ffn.0.norm.weight", config)
    'bert/encoder/transformer/group_0/inner_group_0/LayerNorm_1/gamma'
    """
    if name in _TENSORS:
        return _TENSORS[name]
    brightmart = config.embedding_layout == "brightmart"
    if brightmart and name == "encoder.embeddings.projection.weight":
        return _BRIGHTMART_PROJECTION
    module, _, kind = name.rpartition(".")
    block = re.search(r"\.(\d+)\.", name)
    module = re.sub(r"\.\d+\.", ".", module)
    place = (_MODULES | (_BRIGHTMART if brightmart else _GOOGLE)).get(module)
    if place is None:
        return None
    if module.endswith(".norm"):
        kind = {"weight": "gamma", "bias": "beta"}[kind]
    elif kind == "weight":
        kind = "kernel"
    number = int(block[1]) if block else 0
    if brightmart:
        attention, ffn = _SCOPES[config.sharing]
        place = place.format(
            attention=attention, intermediate=ffn % "intermediate", output=ffn % "output"
        )
    else:
        groups = published_groups(config.num_hidden_layers, config.num_hidden_groups)
        if config.sharing == "all":
            number = [*dict.fromkeys(groups)][number]
    return f"{place}/{kind}".format(n=number)


def is_transposed(name: str) -> bool:
    """Return whether a tensor of theirs is transposed relative to ours."""
    return name.endswith("/kernel") or name == _BRIGHTMART_PROJECTION
