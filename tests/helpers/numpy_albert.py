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


def fine_tuned(tensors: dict[str, Array], head: str, outputs: int) -> dict[str, Array]:
    """Return a checkpoint with a head of its own instead of the pretraining heads.

    Args:
        tensors: Of a pretrained checkpoint.
        head: Beginning of the head's names: nothing, or ``cls/squad/``.
        outputs: Number of its outputs.
    """
    draw = np.random.default_rng(1)
    shapes = {"output_weights": (outputs, HIDDEN), "output_bias": (outputs,)}
    return {
        **{name: tensor for name, tensor in tensors.items() if not name.startswith("cls/")},
        **{f"{head}{n}": draw.normal(size=s).astype(np.float32) for n, s in shapes.items()},
    }


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
    by_heads: bool = False
    """Whether attention kernels are stored in three dimensions, one of them the heads."""

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


def random_tensors(layout: Layout) -> dict[str, Array]:
    """Return a checkpoint's tensors by name, float32."""
    draw = np.random.default_rng(0)
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
        if layout.by_heads:
            for name, shape in by_heads(attention).items():
                tensors[name] = tensors[name].reshape(shape)
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


def by_heads(attention: str) -> dict[str, tuple[int, ...]]:
    """Return the shapes, in three dimensions, of the kernels of one attention, and their biases."""
    size = HIDDEN // HEADS
    inputs = [f"{attention}/self/{part}" for part in ("query", "key", "value")]
    return {
        **{f"{name}/kernel": (HIDDEN, HEADS, size) for name in inputs},
        **{f"{name}/bias": (HEADS, size) for name in inputs},
        f"{attention}/output/dense/kernel": (HEADS, size, HIDDEN),
    }


def class_logits(layout: Layout, tensors: dict[str, Array]) -> Array:
    """Return what a classifier says: ``run_classifier.py``, ``create_model``."""
    at = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
    pooled = np.tanh(_dense(at, "bert/pooler/dense", hidden_states(layout, tensors)[:, 0]))
    return pooled @ at["output_weights"].T + at["output_bias"]


def border_logits(layout: Layout, tensors: dict[str, Array]) -> Array:
    """Return a reader's logits of start and end: ``squad_utils.py``, ``create_v1_model``."""
    at = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
    hidden = hidden_states(layout, tensors)
    return hidden @ at["cls/squad/output_weights"].T + at["cls/squad/output_bias"]


def outputs(
    layout: Layout, tensors: dict[str, Array], ids: Array = IDS, types: Array = TYPES
) -> Outputs:
    """Return what a pretraining model says; row 0 of the vocabulary is padding."""
    at = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
    hidden = hidden_states(layout, tensors, ids, types)
    masked = _gelu(_dense(at, "cls/predictions/transform/dense", hidden))
    masked = _norm(at, "cls/predictions/transform/LayerNorm", masked)
    if layout.code == "brightmart":
        masked = masked @ at["bert/embeddings/word_embeddings_2"].T
    masked = masked @ at["bert/embeddings/word_embeddings"].T + at["cls/predictions/output_bias"]
    pooled = np.tanh(_dense(at, "bert/pooler/dense", hidden[:, 0]))
    order = pooled @ at["cls/seq_relationship/output_weights"].T
    return Outputs(hidden, masked, order + at["cls/seq_relationship/output_bias"])


def hidden_states(
    layout: Layout, tensors: dict[str, Array], ids: Array = IDS, types: Array = TYPES
) -> Array:
    """Return the last layer's output; row 0 of the vocabulary is padding."""
    at = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
    hidden = at["bert/embeddings/word_embeddings"][ids]
    if layout.code == "brightmart":
        hidden = hidden @ at["bert/embeddings/word_embeddings_2"]
    hidden = hidden + at["bert/embeddings/token_type_embeddings"][types]
    hidden = hidden + at["bert/embeddings/position_embeddings"][: ids.shape[1]]
    hidden = _norm(at, "bert/embeddings/LayerNorm", hidden)
    if layout.code == "google":
        hidden = _dense(at, "bert/encoder/embedding_hidden_mapping_in", hidden)
    for layer in range(LAYERS):
        attention, up, down = layout.scopes(layer)
        first, second = layout.norms(layer)
        source = _norm(at, first, hidden) if layout.pre_norm else hidden
        hidden = hidden + _attention(at, attention, source, ids != 0)
        hidden = hidden if layout.pre_norm else _norm(at, first, hidden)
        source = _norm(at, second, hidden) if layout.pre_norm else hidden
        wide = _gelu(_dense(at, f"{up}/dense", source))
        hidden = hidden + _dense(at, f"{down}/dense", wide)
        hidden = hidden if layout.pre_norm else _norm(at, second, hidden)
    return hidden


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


def _attention(at: dict[str, Array], scope: str, source: Array, mask: Array) -> Array:
    """Attend, as google's ``dense_layer_3d`` and ``dense_layer_3d_proj`` do, by einsum."""
    size = HIDDEN // HEADS

    def heads(part: str) -> Array:
        kernel = at[f"{scope}/self/{part}/kernel"].reshape(HIDDEN, HEADS, size)
        bias = at[f"{scope}/self/{part}/bias"].reshape(HEADS, size)
        return (np.einsum("BFH,HND->BFND", source, kernel) + bias).transpose(0, 2, 1, 3)

    query, key, value = map(heads, ("query", "key", "value"))
    scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(size)
    scores = scores - 10_000.0 * ~mask[:, None, None, :]
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True)
    kernel = at[f"{scope}/output/dense/kernel"].reshape(HEADS, size, HIDDEN)
    attended = np.einsum("BFND,NDH->BFH", (weights @ value).transpose(0, 2, 1, 3), kernel)
    return attended + at[f"{scope}/output/dense/bias"]
