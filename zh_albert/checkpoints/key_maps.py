"""Mapping between our parameter names and those of ``transformers``, the only place that knows
them.

Our names are those of a model with an ``encoder`` inside (``AlbertForPretraining``,
``SequenceClassifier``); theirs start with ``albert.`` where ours start with ``encoder.``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from zh_albert.checkpoints.stored_model import TIED_COPY
from zh_albert.model.config import AlbertConfig
from zh_albert.model.sharing import layer_groups, published_groups

# Ours, theirs; {n} is a block's or a group's number. The first rule that matches applies, in both
# directions; the rest of the name (.weight, .bias) is kept.
_GROUP = "albert.encoder.albert_layer_groups.{n}.albert_layers.0"
_RULES: tuple[tuple[str, str], ...] = (
    ("encoder.embeddings.word", "albert.embeddings.word_embeddings"),
    ("encoder.embeddings.position", "albert.embeddings.position_embeddings"),
    ("encoder.embeddings.token_type", "albert.embeddings.token_type_embeddings"),
    ("encoder.embeddings.norm", "albert.embeddings.LayerNorm"),
    ("encoder.embeddings.projection", "albert.encoder.embedding_hidden_mapping_in"),
    ("encoder.attention.{n}.norm", f"{_GROUP}.attention.LayerNorm"),
    ("encoder.attention.{n}", f"{_GROUP}.attention"),
    ("encoder.ffn.{n}.up", f"{_GROUP}.ffn"),
    ("encoder.ffn.{n}.down", f"{_GROUP}.ffn_output"),
    ("encoder.ffn.{n}.norm", f"{_GROUP}.full_layer_layer_norm"),
    ("encoder.pooler", "albert.pooler"),
    ("masked_lm.dense", "predictions.dense"),
    ("masked_lm.norm", "predictions.LayerNorm"),
    ("masked_lm.bias", "predictions.bias"),
    ("sentence_order.classifier", "sop_classifier.classifier"),
    ("classifier", "classifier"),
    ("answer", "qa_outputs"),
)

# Copies that older versions of transformers wrote in addition to the tensor itself.
TIED: dict[str, str] = {
    "predictions.decoder.weight": "albert.embeddings.word_embeddings.weight",
    "predictions.decoder.bias": "predictions.bias",
}
# Not a parameter: 0, 1, 2, …, written by older versions of transformers.
_CONSTANTS = {"albert.embeddings.position_ids"}


def to_huggingface(name: str) -> str | None:
    """Return the name in ``transformers`` of a parameter of ours, None if it has none.

    Block numbers are used as group numbers: correct for ``sharing`` "all", if groups do not
    outnumber the layers, and "none".

    >>> to_huggingface("encoder.ffn.0.up.weight")
    'albert.encoder.albert_layer_groups.0.albert_layers.0.ffn.weight'
    """
    return _first_match(name, _TO_THEIRS)


def from_huggingface(names: Iterable[str], config: AlbertConfig) -> dict[str, str]:
    """Map their names to ours; a name without a rule is mapped to itself.

    Constants are left out, and groups that no layer uses (if groups outnumber layers). The copies
    in ``TIED`` get the name of the original, with the suffix ``TIED_COPY``.

    Args:
        names: Names in one file, with or without the prefix ``albert.``.
        config: Of the same file; determines the groups in use.
    """
    layers, groups = config.num_hidden_layers, config.num_hidden_groups
    if config.sharing == "all":
        blocks = dict(
            zip(published_groups(layers, groups), layer_groups(layers, groups), strict=True)
        )
    else:
        blocks = {layer: layer for layer in range(layers)}
    mapped = {}
    for name in names:
        full = f"albert.{name}" if name.startswith(("embeddings.", "encoder.", "pooler.")) else name
        group = re.search(r"albert_layer_groups\.(\d+)\.", full)
        if full in _CONSTANTS or (group and groups > layers and int(group[1]) not in blocks):
            continue
        if group and int(group[1]) in blocks:
            number = blocks[int(group[1])]
            full = full.replace(group[0], f"albert_layer_groups.{number}.", 1)
        tied = full in TIED
        ours = _first_match(TIED.get(full, full), _TO_OURS) or full
        mapped[name] = f"{ours}{TIED_COPY}" if tied else ours
    return mapped


def _compile(pairs: Iterable[tuple[str, str]]) -> list[tuple[re.Pattern[str], str]]:
    return [
        (
            re.compile(re.escape(source).replace(r"\{n\}", r"(\d+)") + r"(?=\.|$)"),
            target.replace("{n}", r"\1"),
        )
        for source, target in pairs
    ]


_TO_THEIRS = _compile(_RULES)
_TO_OURS = _compile((theirs, ours) for ours, theirs in _RULES)


def _first_match(name: str, rules: list[tuple[re.Pattern[str], str]]) -> str | None:
    for pattern, target in rules:
        if match := pattern.match(name):
            return match.expand(target) + name[match.end() :]
    return None
