"""A model from one layout into another, with nothing lost on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Literal

import torch

from zh_albert.checkpoints.files import NGRAMS, holds_safetensors
from zh_albert.checkpoints.huggingface import write_huggingface
from zh_albert.checkpoints.resolve import expanded, resolve_model
from zh_albert.checkpoints.sentence_transformers import sentence_files
from zh_albert.checkpoints.shared_ngrams import of_its_own, with_own_ngrams
from zh_albert.checkpoints.sidecar_files import VOCABULARIES, read_sidecar_files
from zh_albert.checkpoints.store import read_folder, save_model
from zh_albert.checkpoints.stored_model import (
    NetworkOf,
    StoredModel,
    build_model,
    named_tensors,
    untrained_beside,
)
from zh_albert.checkpoints.tensorflow.folder import read_tensorflow, write_tensorflow
from zh_albert.checkpoints.tensorflow.heads import HeadTask
from zh_albert.checkpoints.tensorflow.locating import find_checkpoint
from zh_albert.checkpoints.torch_file import find_torch_file, read_torch_file
from zh_albert.checkpoints.uer import is_uer, read_uer
from zh_albert.checkpoints.verified import verified
from zh_albert.checkpoints.vocabulary import VocabularyChange, change_vocabulary
from zh_albert.errors import CheckpointError
from zh_albert.tokenization.settings import CONFIG_NAME, read_settings, write_settings
from zh_albert.tokenization.vocab import Vocabulary

Target = Literal["zh_albert", "huggingface", "sentence-transformers", "google"]


@dataclass(frozen=True)
class Conversion:
    """What a conversion did besides copying numbers."""

    vocabulary: VocabularyChange | None
    """Where the rows of a new vocabulary come from."""
    notes: list[str]
    """What was left out of the source, or chosen among its contents, a line each."""


def convert(
    source: str | Path,
    target: Path,
    *,
    to: Target,
    vocabulary: Path | None = None,
    merge_pieces: bool = False,
    dtype: torch.dtype | None = None,
    network_of: NetworkOf | None = None,
    task: HeadTask | None = None,
    labels: Sequence[str] = (),
) -> Conversion:
    """Read a model in any layout and write a folder in the layout asked for.

    Tokenizer files and the model card go along.

    Args:
        source: A folder or a file, see ``read_any``; a string may also be the prefix of a
            TensorFlow checkpoint, or what ``resolve_model`` finds.
        target: The folder to write; must not be ``source``.
        to: ``huggingface`` and ``google`` give every layer its own copy where they cannot share.
            ``google`` is a TensorFlow checkpoint, in float32; ``sentence-transformers`` is
            ``huggingface`` with the pooling of sentence vectors.
        vocabulary: A ``vocab.txt`` whose rows the model shall have. A ``tokenizer_config.json``
            beside it goes along; else the source's stays.
        merge_pieces: See ``change_vocabulary``.
        dtype: Of the stored numbers, see ``save_model``; not for ``google``. None: as they were,
            those in 8 bits as float32.
        network_of: See ``build_model``.
        task: See ``read_any``.
        labels: See ``read_any``.

    Raises:
        CheckpointError: If the source cannot be read, its tensors are not those of one of our
            models, the layout cannot hold the model, or it has n-grams of another vocabulary.
        DataError: If ``vocabulary`` is not one, or what is beside it is damaged.
    """
    source = _located(source) if isinstance(source, str) else source
    if target.resolve() == source.resolve():
        raise CheckpointError(f"{target}: give another folder than the one to convert")
    if target.is_dir() and any(target.iterdir()):
        raise CheckpointError(f"{target}: not empty; choose a new folder, nothing is overwritten")
    stored = read_any(source, task=task, labels=labels)
    dtypes = (tensor.dtype for tensor in stored.tensors.values())
    dtype = dtype or reduce(torch.promote_types, dtypes, torch.bool)  # loses nothing of any
    model = build_model(stored, network_of)
    notes = [*stored.notes]
    if untrained := untrained_beside(model, stored):
        names = ", ".join(name.removesuffix(".") for name in untrained)
        notes.append(f"not in the source, and so untrained, always the same: {names}")
    change = None
    if vocabulary:
        if NGRAMS in stored.files:
            raise CheckpointError(
                f"{source}: its n-grams ({NGRAMS}) are of tokens of its own vocabulary and cannot "
                "be carried over to another; convert the encoder and fine-tune that, or fine-tune "
                "with --set model.ngrams=false first"
            )
        stored = replace(stored, tensors=named_tensors(model))
        stored, change = change_vocabulary(
            stored, Vocabulary.read(vocabulary), merge_pieces=merge_pieces
        )
        if vocabulary.with_name(CONFIG_NAME).is_file():
            stored.files[CONFIG_NAME] = write_settings(read_settings(vocabulary.parent))
        model = build_model(stored, network_of)
    config, settings, files = stored.config, stored.task, stored.files
    if not files.keys() & VOCABULARIES:
        names = " or ".join(VOCABULARIES)
        notes.append(f"no vocabulary beside the source: put it into the new folder, as {names}")
    if to == "google":
        if (longest := settings.get("max_length")) is not None:
            notes.append(f"not in the TensorFlow layout: max_length = {longest} tokens of a window")
        write_tensorflow(target, model=model, config=config, files=files)
    else:
        if to == "sentence-transformers":
            files = {**files, **sentence_files(config, settings, source)}
        write = save_model if to == "zh_albert" else write_huggingface
        write(target, model=model, config=config, files=files, task=settings, dtype=dtype)
    return Conversion(change, notes)


def _located(source: str) -> Path:
    path = expanded(source)
    is_checkpoint = not path.is_dir() and (find_checkpoint(path) or find_torch_file(path))
    return path if is_checkpoint else resolve_model(source)


def read_any(
    source: Path, *, task: HeadTask | None = None, labels: Sequence[str] = ()
) -> StoredModel:
    """Read a model in whatever layout it is.

    A folder that another program has changed since it was saved is read as it is, with a warning.

    Args:
        source: A folder of ours or of ``transformers``, a TensorFlow checkpoint or its folder, or
            a file of ``torch.save`` or its folder.
        task: What the head of a TensorFlow checkpoint is for, where its tensors do not tell;
            ``encoder`` leaves a fine-tuned head out.
        labels: Names of the classes of its classifier, in the order of its outputs.

    Raises:
        CheckpointError: If it cannot be read, or has its task and labels in ``config.json``.
    """
    folder = source if source.is_dir() else source.parent
    with verified(folder, changed="tell"):  # conversion takes over what others have changed
        safe = holds_safetensors(source)
        if not safe and (prefix := find_checkpoint(source)):
            return read_tensorflow(prefix, task=task, labels=labels)
        if task or labels:
            raise CheckpointError(
                f"{source}: task and labels are those of TensorFlow checkpoints, which lack both; "
                "this model is none: leave them out"
            )
        if not safe and (path := find_torch_file(source)):
            return _read_torch_file(path)
        return _with_files(read_folder(source), source)


def _read_torch_file(path: Path) -> StoredModel:
    tensors = read_torch_file(path)
    if is_uer(tensors):
        return read_uer(path, tensors)
    folder = path.parent
    return _with_files(read_folder(folder, tensors=tensors), folder)


def _with_files(stored: StoredModel, folder: Path) -> StoredModel:
    task, files = stored.task, read_sidecar_files(folder)
    if "ngrams" in task:
        files = with_own_ngrams(folder, task, files)
        task = {**task, "ngrams": of_its_own(task["ngrams"])}
    else:  # of the model that was in the folder before
        files.pop(NGRAMS, None)
    return replace(stored, task=task, files=files)
