"""ALBERT as google-research/albert and brightmart/albert_zh compute it, in numpy and float64.

Written from their TensorFlow code alone, under its own names, so that it can tell whether a
checkpoint's tensors mean what the reader takes them for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
IDS = np.array([[2, 5, 6, 7, 3, 8, 9, 3], [2, 10, 11, 3, 0, 0, 0, 0]])
TYPES = np.array([[0, 0, 0, 0, 0, 1, 1, 1], [0] * 8])
MASK = IDS != 0
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"房间很干净,服务也好。"]
EMBEDDING, HIDDEN, INTERMEDIATE, POSITIONS, HEADS, LAYERS = 6, 8, 12, 10, 2, 4


class Outputs(NamedTuple):
    """What the three parts of a pretraining model return."""

    hidden: Array
    masked: Array
    order: Array


@dataclass(frozen=True)
class Layout:
    """One kind of checkpoint."""

    code: str = "google"
    """Or ``brightmart``."""
    groups: int = 1
    """Groups of layers, in google's code."""
    ffn_groups: int = 1
    """Groups of a dense layer, in brightmart's fast variant of google's code."""
    shared: str = "all"
    """Or ``attention``, ``ffn``, ``none``, in brightmart's code."""
    pre_norm: bool = False

    def config(self) -> dict[str, Any]:
        """Return the content of ``albert_config.json``."""
        config = {
            "attention_probs_dropout_prob": 0.0,
            "hidden_act": "gelu",
            "hidden_dropout_prob": 0.0,
            "hidden_size": HIDDEN,
            "initializer_range": 0.02,
            "intermediate_size": INTERMEDIATE,
            "max_position_embeddings": POSITIONS,
            "num_attention_heads": HEADS,
            "num_hidden_layers": LAYERS,
            "type_vocab_size": 2,
            "vocab_size": len(WORDS),
        }
        if self.code == "google":
            return config | {
                "embedding_size": EMBEDDING,
                "num_hidden_groups": self.groups,
                "inner_group_num": 1,
            }
        return config | ({"ln_type": "preln"} if self.pre_norm else {})

    def scopes(self, layer: int) -> tuple[str, str, str]:
        """Return where a layer's attention and its two dense layers are."""
        if self.code == "google":
            group = int(layer / LAYERS * self.groups)
            scope = f"bert/encoder/transformer/group_{group}/inner_group_0"
            dense = f"{scope}/ffn_1/intermediate"
            return f"{scope}/attention_1", dense, f"{dense}/output"
        scope = f"bert/encoder/layer_{layer if self.shared == 'none' else 'shared'}"
        own_attention = f"_{layer}" if self.shared == "ffn" else ""
        own_ffn = f"_{layer}" if self.shared == "attention" else ""
        return (
            f"{scope}/attention{own_attention}",
            f"{scope}/intermediate{own_ffn}",
            f"{scope}/output{own_ffn}",
        )

    def norms(self, layer: int) -> tuple[str, str]:
        """Return where a layer's norms are."""
        attention, _, output = self.scopes(layer)
        if self.code == "google":
            scope = attention.removesuffix("/attention_1")
            return f"{scope}/LayerNorm", f"{scope}/LayerNorm_1"
        return f"{attention}/output/LayerNorm", f"{output}/LayerNorm"


def random_tensors(layout: Layout, seed: int = 0) -> dict[str, Array]:
    """Return a checkpoint's tensors by name, float32."""
    draw = np.random.default_rng(seed)
    tensors: dict[str, Array] = {}

    def add(name: str, *shape: int) -> None:
        if name not in tensors:
            tensors[name] = draw.normal(scale=0.5, size=shape).astype(np.float32)

    def add_dense(name: str, inputs: int, outputs: int, groups: int = 1) -> None:
        grouped = (groups,) if groups > 1 else ()
        add(f"{name}/kernel", *grouped, inputs // groups, outputs // groups)
        add(f"{name}/bias", *grouped, outputs // groups)

    def add_norm(name: str, width: int) -> None:
        add(f"{name}/gamma", width)
        add(f"{name}/beta", width)

    google = layout.code == "google"
    width = EMBEDDING if google else HIDDEN
    add("bert/embeddings/word_embeddings", len(WORDS), EMBEDDING)
    add("bert/embeddings/position_embeddings", POSITIONS, width)
    add("bert/embeddings/token_type_embeddings", 2, width)
    add_norm("bert/embeddings/LayerNorm", width)
    if google:
        add_dense("bert/encoder/embedding_hidden_mapping_in", EMBEDDING, HIDDEN)
    else:
        add("bert/embeddings/word_embeddings_2", EMBEDDING, HIDDEN)
    for layer in range(LAYERS):
        attention, up, down = layout.scopes(layer)
        for part in ("self/query", "self/key", "self/value", "output/dense"):
            add_dense(f"{attention}/{part}", HIDDEN, HIDDEN)
        add_dense(f"{up}/dense", HIDDEN, INTERMEDIATE, layout.ffn_groups)
        add_dense(f"{down}/dense", INTERMEDIATE, HIDDEN, layout.ffn_groups)
        for norm in layout.norms(layer):
            add_norm(norm, HIDDEN)
    add_dense("bert/pooler/dense", HIDDEN, HIDDEN)
    add_dense("cls/predictions/transform/dense", HIDDEN, width)
    add_norm("cls/predictions/transform/LayerNorm", width)
    add("cls/predictions/output_bias", len(WORDS))
    add("cls/seq_relationship/output_weights", 2, HIDDEN)
    add("cls/seq_relationship/output_bias", 2)
    return tensors


def outputs(layout: Layout, tensors: dict[str, Array]) -> Outputs:
    """Return what the model says to ``IDS``, ``TYPES`` and ``MASK``."""
    at = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
    hidden = at["bert/embeddings/word_embeddings"][IDS]
    if layout.code == "brightmart":
        hidden = hidden @ at["bert/embeddings/word_embeddings_2"]
    hidden = hidden + at["bert/embeddings/token_type_embeddings"][TYPES]
    hidden = hidden + at["bert/embeddings/position_embeddings"][: IDS.shape[1]]
    hidden = _norm(at, "bert/embeddings/LayerNorm", hidden)
    if layout.code == "google":
        hidden = _dense(at, "bert/encoder/embedding_hidden_mapping_in", hidden)
    for layer in range(LAYERS):
        attention, up, down = layout.scopes(layer)
        first, second = layout.norms(layer)
        source = _norm(at, first, hidden) if layout.pre_norm else hidden
        attended = _attention(at, f"{attention}/self", source)
        hidden = hidden + _dense(at, f"{attention}/output/dense", attended)
        hidden = hidden if layout.pre_norm else _norm(at, first, hidden)
        source = _norm(at, second, hidden) if layout.pre_norm else hidden
        wide = _gelu(_dense(at, f"{up}/dense", source))
        hidden = hidden + _dense(at, f"{down}/dense", wide)
        hidden = hidden if layout.pre_norm else _norm(at, second, hidden)
    masked = _gelu(_dense(at, "cls/predictions/transform/dense", hidden))
    masked = _norm(at, "cls/predictions/transform/LayerNorm", masked)
    if layout.code == "brightmart":
        masked = masked @ at["bert/embeddings/word_embeddings_2"].T
    masked = masked @ at["bert/embeddings/word_embeddings"].T + at["cls/predictions/output_bias"]
    pooled = np.tanh(_dense(at, "bert/pooler/dense", hidden[:, 0]))
    order = pooled @ at["cls/seq_relationship/output_weights"].T
    return Outputs(hidden, masked, order + at["cls/seq_relationship/output_bias"])


def _dense(at: dict[str, Array], name: str, source: Array) -> Array:
    kernel, bias = at[f"{name}/kernel"], at[f"{name}/bias"]
    if kernel.ndim == 2:
        return source @ kernel + bias
    groups, (batch, length, width) = len(kernel), source.shape
    source = source.reshape(batch, length, width // groups, groups).transpose(3, 0, 1, 2)
    result = np.einsum("GBFH,GHO->GBFO", source, kernel) + bias[:, None, None]
    return result.transpose(1, 2, 0, 3).reshape(batch, length, -1)


def _norm(at: dict[str, Array], name: str, source: Array) -> Array:
    centred = source - source.mean(-1, keepdims=True)
    scaled = centred / np.sqrt(source.var(-1, keepdims=True) + 1e-12)
    return scaled * at[f"{name}/gamma"] + at[f"{name}/beta"]


def _gelu(source: Array) -> Array:
    inner = np.sqrt(2 / np.pi) * (source + 0.044715 * source**3)
    return source * 0.5 * (1 + np.tanh(inner))


def _attention(at: dict[str, Array], scope: str, source: Array) -> Array:
    batch, length, _ = source.shape
    query, key, value = (
        _dense(at, f"{scope}/{part}", source)
        .reshape(batch, length, HEADS, HIDDEN // HEADS)
        .transpose(0, 2, 1, 3)
        for part in ("query", "key", "value")
    )
    scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(HIDDEN // HEADS)
    scores = scores - 10_000.0 * ~MASK[:, None, None, :]
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True)
    return (weights @ value).transpose(0, 2, 1, 3).reshape(batch, length, HIDDEN)
