"""Checkpoint folders of google-research/albert and brightmart/albert_zh, read and written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from torch import nn

from zh_albert.checkpoints.folder import replace_folder
from zh_albert.checkpoints.sidecar_files import read_sidecar_files, read_sizes
from zh_albert.checkpoints.stored_model import (
    StoredModel,
    architecture_of,
    listed,
    named_tensors,
    pretraining_names,
    refuse_unpaid,
)
from zh_albert.checkpoints.tensorflow.albert_config import (
    FILE_NAME,
    NEEDED,
    albert_config_problems,
    read_albert_config,
    write_albert_config,
)
from zh_albert.checkpoints.tensorflow.bundle import Bundle, write_bundle
from zh_albert.checkpoints.tensorflow.heads import HeadTask, find_head
from zh_albert.checkpoints.tensorflow.kernels import in_our_shape
from zh_albert.checkpoints.tensorflow.names import find_layout, is_transposed, tensorflow_name
from zh_albert.checkpoints.tensorflow.variables import sort_variables
from zh_albert.checkpoints.untied import untied_tensors
from zh_albert.errors import CheckpointError
from zh_albert.model.config import AlbertConfig

_PREFIX = "model.ckpt"


def read_tensorflow(
    prefix: Path, *, task: HeadTask | None = None, labels: Sequence[str] = ()
) -> StoredModel:
    """Read a checkpoint and its sidecar files; numbers stay on disk until they are used.

    Args:
        prefix: Common prefix of the checkpoint's files.
        task: See ``find_head``, as for ``labels``.
        labels: Names of a classifier's classes.

    Raises:
        CheckpointError: If a file is missing, truncated or damaged, the model is not an ALBERT, or
            its head cannot be computed here.
    """
    bundle = Bundle(prefix)
    weights, notes = sort_variables(bundle.shapes, bundle.others, prefix)
    layout = find_layout(weights)
    if layout is None:
        raise CheckpointError(_not_albert(prefix, [*weights]))
    shapes = {name: bundle.shapes[theirs] for name, theirs in weights.items()}
    head = find_head(shapes, prefix, task=task, labels=labels)
    unused = [name for name in weights if name.startswith(head.unused)] if head.unused else []
    if unused:
        what = head.task.get("name", "encoder")
        notes.append(f"left out, without a place in a model for {what}: {listed(unused)}")
    content, config_path = read_sizes(prefix, NEEDED)
    stored = {name: bundle.tensor(weights[name]) for name in weights if name not in unused}
    config = read_albert_config(content, config_path, layout, stored)
    refuse_unpaid(config, sum(tensor.nbytes for tensor in stored.values()), prefix)
    theirs = {name: tensorflow_name(name, config) or name for name in pretraining_names(config)}
    theirs |= head.names
    ours = {name: our for our, name in theirs.items()}

    def name_there(name: str) -> str:
        there = theirs.get(name, name)
        return weights.get(there, there)

    return StoredModel(
        source=prefix,
        config=config,
        task=head.task,
        tensors={
            ours.get(name, name): in_our_shape(name, tensor, config) if name in ours else tensor
            for name, tensor in stored.items()
        },
        name_there=name_there,
        transposed_there=lambda name: name in theirs and is_transposed(theirs[name]),
        files=read_sidecar_files(prefix.parent),
        notes=notes,
    )


def write_tensorflow(
    folder: Path, *, model: nn.Module, config: AlbertConfig, files: Mapping[str, bytes | str]
) -> None:
    """Write a folder that the TensorFlow code of the model's embedding layout can open.

    Google's code cannot share only attention or only feed-forward blocks; every layer then gets a
    copy.

    Args:
        folder: See ``save_model``, as for all arguments.
        model: An ``AlbertEncoder`` or ``AlbertForPretraining``.
        config: The encoder's.
        files: Further files of the folder.

    Raises:
        CheckpointError: If that code cannot compute the model, or the folder cannot be written.
    """
    problems = albert_config_problems(config)
    if architecture_of(model) not in ("AlbertModel", "AlbertForPreTraining"):
        problems.append("task heads in published checkpoints")
    if problems:
        raise CheckpointError(
            f"{folder}: not written: ALBERT in TensorFlow has no {', no '.join(problems)}; keep "
            "the model in this project's own format (zh-albert convert --to zh_albert)"
        )
    tensors = named_tensors(model)
    if config.embedding_layout == "google":
        tensors, config = untied_tensors(tensors, config)
    stored = {}
    for name, tensor in tensors.items():
        theirs = tensorflow_name(name, config)
        assert theirs is not None, name
        stored[theirs] = tensor.t() if is_transposed(theirs) else tensor
    replace_folder(
        folder, {**files, **write_bundle(_PREFIX, stored), FILE_NAME: write_albert_config(config)}
    )


def _not_albert(prefix: Path, names: list[str]) -> str:
    kind = ""
    if any("bert/encoder/layer_" in name for name in names):
        kind = " but one of BERT"
    elif any(name.endswith("/.ATTRIBUTES/VARIABLE_VALUE") for name in names):
        kind = " but one of objects (Keras, TensorFlow 2), whose names say nothing about a model"
    examples = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    return (
        f"{prefix}: not an ALBERT checkpoint{kind}: expected tensors in "
        "bert/encoder/transformer/group_0 (google) or bert/embeddings/word_embeddings_2 "
        f"(brightmart), found {len(names)} others ({examples}); only ALBERT models can be opened"
    )
