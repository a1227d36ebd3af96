"""``config.json``: our config and task, in a form that ``transformers`` reads where it can.

The published fields stand at the top, so that a plain model's folder is an ordinary ALBERT folder
to others; what only we know stands under one key, ``zh_albert``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NoReturn

from zh_albert.checkpoints.shared_ngrams import REFERENCE
from zh_albert.checkpoints.task_settings import PROBLEM_TYPES, agreed_task
from zh_albert.configio import build
from zh_albert.errors import CheckpointError, ConfigError
from zh_albert.files.plain_files import parse_json
from zh_albert.files.textio import results_json
from zh_albert.model.config import (
    BLOCK_FIELDS,
    SAME_ACTIVATIONS,
    AlbertConfig,
    fields_of,
    is_pruned,
)

# 1: weights in 8 bits are not deflated, n-grams have three tokens at most. 3: there are fields of
# blocks, without which another network would be read; only folders that have any say 3.
_PLAIN_VERSION, _BLOCKS_VERSION = 2, 3
_READ = (1, 2, 3)
_OURS = ("sharing", "embedding_layout", "norm_position")
_WHOLE = ("max_length", "stride", "context_tokens")
_NUMBERS = (
    *("threshold", "mean", "spread", "lowest", "highest", "different_at_most"),
    *("length_penalty", "repeat_penalty"),
)
_REQUIRED = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
)


def is_plain(config: AlbertConfig) -> bool:
    """Return whether ``transformers`` can compute this encoder with our tensors as they are."""
    return (
        config.embedding_layout == "google"
        and config.norm_position == "post"
        and config.layer == "transformer"
        and config.sharing in ("all", "none")
        and not is_pruned(config)
        and not config.plan
    )


def write_config(
    config: AlbertConfig,
    *,
    architecture: str | None,
    task: Mapping[str, Any],
    tokenizer: str,
    weights: str,
) -> str:
    """Return the text of ``config.json``.

    Args:
        config: The encoder's.
        architecture: The class of ``transformers`` that computes the same; None if there is none.
            The file then names a ``model_type`` that ``transformers`` refuses, for with "albert"
            it would open the folder and fill whatever it does not know with random numbers.
        task: Kept as it is, under ``zh_albert``; its ``tags``, or without any its
            ``labels``, also become ``id2label``.
        tokenizer: Class of the tokenizer in ``transformers``.
        weights: What the numbers are stored as. For whoever reads the file without this library;
            it tells the same itself.
    """
    values = fields_of(config)
    has_blocks = any(name in values for name in BLOCK_FIELDS)
    published = {k: v for k, v in values.items() if k not in (*_OURS, *BLOCK_FIELDS)}
    if config.sharing == "none":
        published["num_hidden_groups"] = config.num_hidden_layers
    elif architecture:  # a file with unused groups is not written again
        published["num_hidden_groups"] = min(config.num_hidden_groups, config.num_hidden_layers)
    problem = PROBLEM_TYPES.get(task.get("head", ""))
    labels = task.get("tags") or task.get("labels", ())
    content = {
        "model_type": "albert" if architecture else "zh_albert",
        **({"architectures": [architecture]} if architecture else {}),
        **published,
        **({"problem_type": problem} if problem else {}),
        "inner_group_num": 1,
        "tokenizer_class": tokenizer,
        # What the weights are in memory, also where they are stored in half the bytes.
        "dtype": "float32",
        **(
            {
                "id2label": {str(index): str(label) for index, label in enumerate(labels)},
                "label2id": {str(label): index for index, label in enumerate(labels)},
            }
            if labels
            else {}
        ),
        "zh_albert": {
            "format_version": _BLOCKS_VERSION if has_blocks else _PLAIN_VERSION,
            **{name: values[name] for name in (*_OURS, *BLOCK_FIELDS) if name in values},
            "tensor_names": "huggingface" if architecture else "zh_albert",
            "weights": weights,
            "task": dict(task),
        },
    }
    return results_json(content, indent=2) + "\n"


def read_config(text: str, source: Path) -> tuple[AlbertConfig, dict[str, Any], bool]:
    """Read ``config.json``, ours or one that ``transformers`` wrote.

    Args:
        text: The file's content.
        source: The file, named in errors.

    Returns:
        The config; the task, empty for an encoder without heads; whether tensors have the names of
        ``transformers``.

    Raises:
        CheckpointError: If it is not JSON, not an ALBERT's, or its values cannot work.
    """
    try:
        content = parse_json(text)
    except ValueError as error:
        raise CheckpointError(f"{source}: not JSON: {error}; get the folder again") from None
    if not isinstance(content, dict):
        raise CheckpointError(f"{source}: expected a JSON object, found {type(content).__name__}")
    if content.get("model_type") not in ("albert", "zh_albert"):
        raise CheckpointError(
            f"{source}: expected model_type 'albert', found {content.get('model_type')!r}; "
            "only ALBERT models can be opened, and the encoder of a BERT after: zh-albert convert "
            "FOLDER NEW_FOLDER"
        )
    missing = [name for name in _REQUIRED if content.get(name) is None]
    if missing:
        raise CheckpointError(f"{source}: lacks {', '.join(missing)}")
    if content.get("inner_group_num", 1) != 1:
        raise CheckpointError(
            f"{source}: inner_group_num must be 1, found {content['inner_group_num']}; such a "
            "model cannot be opened here"
        )
    ours = content.get("zh_albert", {})
    if not isinstance(ours, dict) or not isinstance(ours.get("task", {}), dict):
        raise CheckpointError(f"{source}: zh_albert and its task must be JSON objects")
    version = ours.get("format_version", _PLAIN_VERSION)
    if version not in _READ:
        raise CheckpointError(
            f"{source}: expected format_version {_READ[0]} to {_READ[-1]}, found {version!r}; it "
            "was written by another version of zh-albert: install that one"
        )
    known = {field.name for field in fields(AlbertConfig)} - {*_OURS, *BLOCK_FIELDS}
    values = {k: content[k] for k in known if content.get(k) is not None}
    values |= {name: ours[name] for name in (*_OURS, *BLOCK_FIELDS) if name in ours}
    if isinstance(activation := values.get("hidden_act"), str):
        values["hidden_act"] = SAME_ACTIVATIONS.get(activation, activation)
    if content["model_type"] == "albert" and ours.get("sharing") == "none":
        # As the published field says it; another program may have changed that.
        layers, groups = (values.get(f"num_hidden_{what}") for what in ("layers", "groups"))
        values["sharing"] = "none" if layers == groups else "all"
    try:
        config = build(AlbertConfig, values, source=str(source))
    except ConfigError as error:
        raise CheckpointError(str(error)) from None
    if config.sharing == "none":
        config = replace(config, num_hidden_groups=1)  # says nothing there; one way to write it
    names = ours.get("tensor_names", "huggingface") == "huggingface"
    task = agreed_task(content, source)
    _refuse_settings(task, source)
    return config, task, names


def _refuse_settings(task: Mapping[str, Any], source: Path) -> None:
    """Check what would make answers ambiguous or NaN; scores and notes are not looked at.

    Raises:
        CheckpointError: If a label occurs twice, or a setting is of another kind or not finite.
    """

    def refuse(name: str, expected: str, found: str) -> NoReturn:
        raise CheckpointError(
            f"{source}: {name}: expected {expected}, found {found}; get the folder again"
        )

    for name in ("labels", "tags"):
        labels = task.get(name) or []
        if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
            refuse(name, "a list of strings", f"{labels!r:.80}")
        if twice := [label for label, count in Counter(labels).items() if count > 1]:
            refuse(name, "different ones", f"{twice[0]!r:.80} twice")
    for name, fits, expected in (
        ("label_zh", lambda value: isinstance(value, str), "strings by label"),
        ("different_adds", _is_number, "numbers by class"),
    ):
        by_label = task.get(name) or {}
        if not isinstance(by_label, dict) or not all(map(fits, by_label.values())):
            refuse(name, expected, f"{by_label!r:.80}")
    ngrams, adds = task.get("ngrams") or {}, task.get("different_adds") or {}
    if not isinstance(ngrams, dict) or not all(
        isinstance(value, str) if name in REFERENCE else _is_number(value)
        for name, value in ngrams.items()
    ):
        refuse("ngrams", "numbers by name", f"{ngrams!r:.80}")
    widths = task.get("widths", [])
    if not isinstance(widths, list) or not all(type(one) is int and one > 0 for one in widths):
        refuse("widths", "a list of whole numbers above 0", f"{widths!r:.80}")
    for name in (*_WHOLE, *_NUMBERS):
        value, whole = task.get(name, 0), name in _WHOLE
        if not (isinstance(value, int) if whole else value is None or _is_number(value)):
            refuse(name, "a whole number" if whole else "a number", f"{value!r:.80}")
    for name, value in [*task.items(), *ngrams.items(), *adds.items()]:
        if isinstance(value, float) and not math.isfinite(value):
            refuse(name, "a finite number", str(value))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
