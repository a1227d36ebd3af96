"""The model folder: ``config.json``, ``model.safetensors``, vocabulary, model card.

A plain model's folder (google's embedding layout, post-norm, shared or one group a layer) is at
the same time a folder of ``transformers``: the same names, the same ``config.json``. So reading a
folder that ``transformers`` wrote is the same as reading our own. Never pickle.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import safetensors.torch
import torch
from torch import Tensor, nn

from zh_albert.checkpoints.config_json import is_plain, read_config, write_config
from zh_albert.checkpoints.files import NGRAMS, WEIGHTS, read_tensors, read_text
from zh_albert.checkpoints.folder import replace_folder
from zh_albert.checkpoints.int8_weights import to_int8
from zh_albert.checkpoints.key_maps import from_huggingface, to_huggingface
from zh_albert.checkpoints.sentence_transformers import sentence_settings
from zh_albert.checkpoints.stored_model import (
    StoredModel,
    architecture_of,
    fitting_tensors,
    listed,
    named_tensors,
    refuse_unpaid,
    unused_tensors,
)
from zh_albert.checkpoints.verified import verified
from zh_albert.errors import CheckpointError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import encoder_of
from zh_albert.model.sharing import head_size_of, plan_of

# Fields that change what the tensors mean, but no tensor's name or shape; also the plan and the
# size of a head. The kind of layer comes first: of another kind, all of it is another.
_INVISIBLE = (
    "layer",
    "num_hidden_layers",
    "num_attention_heads",
    "hidden_act",
    "layer_norm_eps",
    "norm_position",
)
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth")  # suffixes of files with weights


def save_model(
    folder: Path,
    *,
    model: nn.Module,
    config: AlbertConfig,
    files: Mapping[str, bytes | str],
    task: Mapping[str, Any],
    dtype: torch.dtype = torch.float16,
    bits: int = 8,
    group: int | None = None,
) -> None:
    """Write a model folder and its manifest, whole or not at all; see ``replace_folder``.

    Args:
        folder: Made if missing. In an existing one the model's files are replaced, others stay.
        model: An ``AlbertEncoder``, or a module that has one as ``encoder``.
        config: The encoder's.
        files: Name to content of what goes along: ``vocab.txt`` or ``spiece.model``,
            ``README.md``.
        task: What the model is for, as JSON; returned by ``load_config``. Empty for an encoder.
            ``labels`` is the list of class names, ``tags`` that of the logits where it differs.
        dtype: Of the stored numbers; int8 is for matrices, see ``to_int8``. Loading gives
            them the dtype of the model they go into.
        bits: Of the integers of int8, 2 to 8; see ``to_int8``.
        group: The most columns that share a scale in int8; None: a row has one.

    Raises:
        ConfigError: If there is no such number of bits, or a group is empty.
        CheckpointError: If the disk is full or the folder cannot be written, or a weight is not
            finite in ``dtype``.
    """
    # With n-grams, the network alone would give other answers.
    others_can_read = is_plain(config) and dtype != torch.int8 and NGRAMS not in files
    architecture = architecture_of(model) if others_can_read else None
    tensors = named_tensors(model)
    write_model_folder(
        folder,
        tensors,
        config,
        architecture=architecture,
        files=files,
        task=task,
        dtype=dtype,
        bits=bits,
        group=group,
    )


def load_config(folder: Path) -> tuple[AlbertConfig, dict[str, Any]]:
    """Read a model folder's config and task; the task is empty for an encoder.

    Raises:
        CheckpointError: If there is no such folder, it is no model folder, its ``config.json`` is
            damaged, the model is not an ALBERT, or a file of the folder is not that of its
            manifest.
    """
    with verified(folder):
        config, task, _ = _read_config(folder)
    return config, task


def load_weights(
    model: nn.Module,
    folder: Path,
    *,
    new: tuple[str, ...] = (),
    optional: tuple[str, ...] = (),
    left_over: Literal["refuse", "heads"] = "refuse",
) -> None:
    """Fill a model with a folder's weights; nothing stays random that is not named here.

    Except for the pooler of a tagger or a reader, which has no influence: ``unused_tensors``.
    Nothing is changed if anything does not fit.

    Args:
        model: An ``AlbertEncoder``, or a module that has one as ``encoder``.
        folder: Ours, or one that ``transformers`` wrote (also in several safetensors files).
        new: Beginnings of parameter names that keep their values, whatever the folder holds, for
            example ``"classifier."``.
        optional: Beginnings of those that keep their values if the folder has none.
        left_over: What to do with tensors that have no place in the model: ``refuse``, or pass
            over those of ``heads`` (whatever is not the encoder's).

    Raises:
        CheckpointError: If a file is missing or damaged, the folder's model is of another kind,
            or tensors are missing, left over or wrongly shaped; all of them are listed.
    """
    stored = read_folder(folder)
    _refuse_other_kind(model, stored.config, folder)
    targets, optional = named_tensors(model), optional + unused_tensors(model, stored)
    found = fitting_tensors(stored, targets, new=new, optional=optional, left_over=left_over)
    with torch.no_grad():
        for name, tensor in found.items():
            targets[name].copy_(tensor)


def read_folder(folder: Path, *, tensors: Mapping[str, Tensor] | None = None) -> StoredModel:
    """Read a folder of ours, or one that ``transformers`` wrote.

    Args:
        folder: Its tokenizer files and model card are not read.
        tensors: Taken instead of those in the folder's safetensors files.

    Raises:
        CheckpointError: If a file is missing, damaged or of another save, or the model is not an
            ALBERT.
    """
    with verified(folder):
        config, task, foreign = _read_config(folder)
        stored = read_tensors(folder) if tensors is None else tensors
    names = from_huggingface(stored, config) if foreign else {name: name for name in stored}
    theirs = {ours: name for name, ours in names.items()}

    def name_there(ours: str) -> str:
        return theirs.get(ours) or (to_huggingface(ours) if foreign else None) or ours

    unused = [name for name in stored if name not in names]
    return StoredModel(
        source=folder,
        config=config,
        task=task,
        tensors={ours: stored[name] for name, ours in names.items()},
        name_there=name_there,
        notes=[f"left out, because no layer reads them: {listed(unused)}"] if unused else [],
    )


def write_model_folder(
    folder: Path,
    tensors: Mapping[str, Tensor],
    config: AlbertConfig,
    *,
    architecture: str | None,
    files: Mapping[str, bytes | str],
    task: Mapping[str, Any],
    dtype: torch.dtype,
    bits: int = 8,
    group: int | None = None,
) -> None:
    """Write tensors under our names, or those of ``transformers`` if there is an architecture.

    See ``save_model``, which most callers want.
    """
    stored = {}
    for name, tensor in tensors.items():
        theirs = to_huggingface(name) if architecture else name
        if theirs is None:
            raise CheckpointError(f"{name} has no name in transformers' {architecture}")
        stored[theirs] = tensor.detach()
    weights_are = str(dtype).removeprefix("torch.")
    if dtype == torch.int8:
        stored = to_int8(stored, bits=bits, group=group)
        weights_are = f"int{bits}" + (f", groups of {group}" if group else "")
    else:
        stored = {name: tensor.to("cpu", dtype).contiguous() for name, tensor in stored.items()}
    broken = [name for name, tensor in stored.items() if not tensor.isfinite().all()]
    if broken:
        raise CheckpointError(
            f"{folder}: not saved, for {len(broken)} tensors are not finite as {dtype}: "
            f"{', '.join(broken)}; save as float32, or go back to an earlier state"
        )
    # Of two vocabularies vocab.txt counts, as for ``load_tokenizer``.
    unigram = "spiece.model" in files and "vocab.txt" not in files
    tokenizer = "AlbertTokenizer" if unigram else "BertTokenizer"
    text = write_config(
        config,
        architecture=architecture,
        task=task,
        tokenizer=tokenizer,
        weights=weights_are,
    )
    weights = safetensors.torch.save(stored, metadata={"format": "pt"})
    replace_folder(folder, {**files, WEIGHTS: weights, "config.json": text})


def _read_config(folder: Path) -> tuple[AlbertConfig, dict[str, Any], bool]:
    config, task, names = read_config(read_text(folder, "config.json"), folder / "config.json")
    task = sentence_settings(folder, task, config.max_position_embeddings)
    stored = [path for path in folder.iterdir() if path.suffix in _WEIGHTS and path.is_file()]
    labels = task.get("labels")
    refuse_unpaid(
        config,
        sum(path.stat().st_size for path in stored),
        folder / "config.json",
        outputs=len(labels) if isinstance(labels, list) else 0,
    )
    return config, task, names


def _refuse_other_kind(model: nn.Module, config: AlbertConfig, folder: Path) -> None:
    encoder = encoder_of(model)
    ours_of, theirs_of = (
        {name: getattr(one, name) for name in _INVISIBLE}
        # However it is written: by sharing and by a plan, the same layers are the same.
        | {"plan": [*map(tuple, plan_of(one))], "head_size": head_size_of(one)}
        for one in (encoder.config, config)
    )
    for name, ours in ours_of.items():
        theirs = theirs_of[name]
        if ours != theirs:
            raise CheckpointError(
                f"{folder}: expected {name} {ours!r}, found {theirs!r}; the weights would mean "
                "something else: make the model from the folder's own config"
            )
