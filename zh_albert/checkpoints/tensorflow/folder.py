"""Checkpoint folders of google-research/albert and brightmart/albert_zh, read and written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor, nn

from zh_albert.checkpoints.folder import replace_folder
from zh_albert.checkpoints.sidecar_files import read_sidecar_files, read_sizes
from zh_albert.checkpoints.stored_model import (
    StoredModel,
    architecture_of,
    named_tensors,
    pretraining_names,
)
from zh_albert.checkpoints.tensorflow.albert_config import (
    FILE_NAME,
    NEEDED,
    albert_config_problems,
    read_albert_config,
    write_albert_config,
)
from zh_albert.checkpoints.tensorflow.bundle import Bundle, write_bundle
from zh_albert.checkpoints.tensorflow.names import (
    find_layout,
    is_transposed,
    is_weight,
    tensorflow_name,
)
from zh_albert.checkpoints.untied import untied_tensors
from zh_albert.errors import CheckpointError
from zh_albert.model.config import AlbertConfig

_PREFIX = "model.ckpt"


def find_checkpoint(source: Path) -> Path | None:
    """Return the prefix of the TensorFlow checkpoint that ``source`` means, None if it is none.

    Args:
        source: A folder with one checkpoint, a prefix (``…/model.ckpt``), or one of its files.

    Raises:
        CheckpointError: If a folder has several.
    """
    if source.is_dir():
        found = sorted(path.with_suffix("") for path in source.glob("*.index"))
        if len(found) > 1:
            names = ", ".join(prefix.name for prefix in found)
            raise CheckpointError(
                f"{source}: expected one checkpoint, found {names}; give one: {found[-1]}"
            )
        return found[0] if found else None
    if source.suffix == ".index" or source.suffix.startswith((".data-", ".meta")):
        return source.with_suffix("")
    if source.suffix.startswith(".ckpt") or Path(f"{source}.index").exists():
        return source
    return None


def read_tensorflow(prefix: Path) -> StoredModel:
    """Read a checkpoint and its sidecar files; numbers stay on disk until they are used.

    Args:
        prefix: Common prefix of the checkpoint's files.

    Raises:
        CheckpointError: If a file is missing, truncated or damaged, or the model is not an ALBERT.
    """
    bundle = Bundle(prefix)
    layout = find_layout(bundle.names)
    if layout is None:
        raise CheckpointError(_not_albert(prefix, bundle.names))
    content, config_path = read_sizes(prefix, NEEDED)
    stored = {name: bundle.tensor(name) for name in bundle.names if is_weight(name)}
    config = read_albert_config(content, config_path, layout, stored)
    theirs = {name: tensorflow_name(name, config) or name for name in pretraining_names(config)}
    ours = {name: our for our, name in theirs.items()}
    return StoredModel(
        source=prefix,
        config=config,
        tensors={
            ours.get(name, name): _in_our_shape(name, stored[name], config, prefix)
            for name in stored
        },
        name_there=lambda name: theirs.get(name, name),
        files=read_sidecar_files(prefix.parent),
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


def _in_our_shape(name: str, tensor: Tensor, config: AlbertConfig, source: Path) -> Tensor:
    """Return a tensor of theirs in our shape.

    Raises:
        CheckpointError: If it is of another width than any of the model's.
    """
    if is_transposed(name) and tensor.ndim > 3:
        raise CheckpointError(
            f"{source}: {name}: expected a matrix, found {tensor.ndim} dimensions"
        )
    if is_transposed(name) and tensor.ndim == 3:
        groups, *sides = tensor.shape
        widest = max(config.hidden_size, config.intermediate_size)
        if groups * max(sides) > widest:  # groups are joined by zeros, which no file pays for
            raise CheckpointError(
                f"{source}: {name}: expected at most {widest:,} inputs and outputs, found "
                f"{groups:,} groups of {max(sides):,}; get the checkpoint again"
            )
        return _joined_groups(tensor)
    if is_transposed(name):
        return tensor.t()
    in_groups = name.endswith("/dense/bias") and tensor.ndim == 2
    return tensor.flatten() if in_groups else tensor


def _joined_groups(kernel: Tensor) -> Tensor:
    """Return the matrix of a dense layer in groups, with zeros between different groups.

    Input i of group g is input i · groups + g of the layer; the groups' outputs are concatenated.

    Source: brightmart/albert_zh, modeling_google_fast.py, dense_layer_2d.

    Args:
        kernel: Shape: (groups, inputs / groups, outputs / groups).

    Returns:
        Shape: (outputs, inputs).
    """
    groups, inputs, outputs = kernel.shape
    joined = kernel.new_zeros(groups, outputs, inputs, groups)
    joined.diagonal(dim1=0, dim2=3).copy_(kernel.permute(2, 1, 0))
    return joined.reshape(groups * outputs, inputs * groups)


def _not_albert(prefix: Path, names: list[str]) -> str:
    is_bert = any("bert/encoder/layer_" in name for name in names)
    examples = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    return (
        f"{prefix}: not an ALBERT checkpoint{' but one of BERT' * is_bert}: expected tensors in "
        "bert/encoder/transformer/group_0 (google) or bert/embeddings/word_embeddings_2 "
        f"(brightmart), found {len(names)} others ({examples}); only ALBERT models can be opened"
    )
