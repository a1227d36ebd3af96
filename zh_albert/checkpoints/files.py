"""Reading of the files of a model folder; every failure is a ``CheckpointError``."""

from __future__ import annotations

import hashlib
from pathlib import Path

import safetensors.torch
from safetensors import SafetensorError
from torch import Tensor

from zh_albert.checkpoints.finite import refuse_not_finite
from zh_albert.checkpoints.int8_weights import from_int8
from zh_albert.errors import CheckpointError
from zh_albert.files.plain_files import parse_json, read_plain

WEIGHTS = "model.safetensors"
EXPORT_METADATA = "export.json"
EXPORTED_NETWORKS = frozenset({"model.onnx", "openvino.xml", "openvino.bin"})
"""Files that an export adds beside the weights."""
NGRAMS = "ngrams.npz"
"""The n-gram model of a classifier or a tagger."""
_INDEX = f"{WEIGHTS}.index.json"


def read_text(folder: Path, name: str) -> str:
    """Read a text file of a model folder, without a byte-order mark, as Windows puts before it.

    Raises:
        CheckpointError: If the folder or the file is missing, or not UTF-8.
    """
    if not folder.is_dir():
        what = "found a file" if folder.exists() else "no such folder"
        raise CheckpointError(f"{folder}: {what}; expected a model folder with {name}")
    try:
        return read_plain(folder / name).decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise CheckpointError(
            f"{folder / name}: byte {error.start + 1} is not UTF-8; download the folder again"
        ) from None
    except OSError as error:
        if (folder / "training").is_dir() and not holds_safetensors(folder):
            raise CheckpointError(
                f"{folder}: training there has not finished and no model was written yet; continue "
                "it by the same command with --resume"
            ) from None
        raise CheckpointError(
            f"{folder}: no readable {name} ({error.strerror}); expected a model folder with "
            f"config.json, {WEIGHTS} and vocab.txt; zh-albert convert makes one of other formats"
        ) from None


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """Read all tensors of a model folder, from one safetensors file or several.

    Int8 weights are returned in float32.

    Raises:
        CheckpointError: If a file is missing or damaged, holds numbers that are not finite, or
            there is only a pickle.
    """
    if (folder / _INDEX).exists() and not (folder / WEIGHTS).exists():
        return _read_shards(folder)
    return _read_safetensors(folder / WEIGHTS)


def holds_safetensors(folder: Path) -> bool:
    """Return whether a folder has weights that can be read safely."""
    return (folder / WEIGHTS).exists() or (folder / _INDEX).exists()


def weights_fingerprint(folder: Path) -> str:
    """Return a fingerprint of a model folder's weights, to detect that they have changed."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.safetensors")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def count_parameters(folder: Path) -> int:
    """Return the number of parameters in a model folder.

    Raises:
        CheckpointError: See ``read_tensors``.
    """
    return sum(tensor.numel() for tensor in read_tensors(folder).values())


def _read_shards(folder: Path) -> dict[str, Tensor]:
    try:
        shards = sorted(set(parse_json(read_text(folder, _INDEX))["weight_map"].values()))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CheckpointError(
            f"{folder / _INDEX}: expected JSON with a weight_map; download the folder again"
        ) from None
    tensors: dict[str, Tensor] = {}
    for shard in shards:
        if (
            not isinstance(shard, str) or Path(shard).name != shard
        ):  # an index must not point outside its folder
            raise CheckpointError(
                f"{folder / _INDEX}: {shard!r:.80} is not a file name; get the folder again"
            )
        tensors |= _read_safetensors(folder / shard)
    return tensors


def _read_safetensors(path: Path) -> dict[str, Tensor]:
    if not path.is_file():
        if (path.parent / "pytorch_model.bin").exists():
            raise CheckpointError(
                f"{path.parent}: expected {path.name}, found pytorch_model.bin, a pickle, which "
                "is opened for conversion only: zh-albert convert FOLDER NEW_FOLDER, or in "
                "transformers AutoModelForPreTraining.from_pretrained(FOLDER)"
                ".save_pretrained(NEW_FOLDER)"
            )
        others = ", ".join(sorted(other.name for other in path.parent.glob("*.safetensors")))
        found = f"; found {others}" if others else ""
        raise CheckpointError(f"{path}: no such file; the model's weights should be there{found}")
    try:
        tensors: dict[str, Tensor] = safetensors.torch.load_file(path)
    except (SafetensorError, OSError) as error:
        raise CheckpointError(
            f"{path}: not a complete safetensors file ({error}; {path.stat().st_size} bytes); "
            "download it again"
        ) from None
    tensors = from_int8(tensors, path)
    refuse_not_finite(tensors, path)
    return tensors
