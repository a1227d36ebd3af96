"""Files of ``torch.save``, read for conversion only.

They are pickles, which can contain programs. PyTorch's restricted reader accepts only tensors in
plain containers, and no other reader is used here. Models are never saved in this form, so ``load``
and everything built on it never opens one.
"""

from __future__ import annotations

import pickle
import warnings
import zipfile
from pathlib import Path

import torch
from torch import Tensor

from zh_albert.checkpoints.finite import refuse_not_finite
from zh_albert.errors import CheckpointError
from zh_albert.files.plain_files import how_to_raise, refuse_special, unpacked_limit

_SUFFIXES = (".bin", ".pt", ".pth")
_TRANSFORMERS_NAME = "pytorch_model.bin"
_INDEX = f"{_TRANSFORMERS_NAME}.index.json"
_PARALLEL = "module."  # before every name in a model that was trained in PyTorch's DataParallel


def find_torch_file(source: Path) -> Path | None:
    """Return the file that ``source`` means, None if there is none.

    Raises:
        CheckpointError: If a folder has several, or one in parts.
    """
    if not source.is_dir():
        return source if source.suffix in _SUFFIXES else None
    if (source / _TRANSFORMERS_NAME).is_file():
        return source / _TRANSFORMERS_NAME
    if (source / _INDEX).is_file():
        raise CheckpointError(
            f"{source}: expected {_TRANSFORMERS_NAME}, found one in parts ({_INDEX}), which cannot "
            "be read here; open it in transformers and save it again, as safetensors: "
            "model.save_pretrained(NEW_FOLDER)"
        )
    found = sorted(path for path in source.iterdir() if path.suffix in _SUFFIXES)
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise CheckpointError(f"{source}: expected one checkpoint, found {names}; give one of them")
    return found[0] if found else None


def read_torch_file(path: Path) -> dict[str, Tensor]:
    """Read a file's tensors by name.

    Raises:
        CheckpointError: If it is missing or damaged, or holds anything but tensors by name.
    """
    try:
        refuse_special(path)
    except OSError as error:
        raise CheckpointError(f"{path}: {error.strerror}") from None
    try:
        _refuse_packed(path)
        with warnings.catch_warnings(action="ignore"):  # of old but readable files
            content = torch.load(
                path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path)
            )
    except (FileNotFoundError, PermissionError) as error:
        raise CheckpointError(f"{path}: {error.strerror}; check the path") from None
    except CheckpointError:
        raise
    except pickle.UnpicklingError:
        raise CheckpointError(
            f"{path}: not opened: it is damaged, or holds more than tensors, which may be a "
            "program; download it again or, if you trust it, save only its state_dict"
        ) from None
    except Exception as error:  # a damaged pickle can raise anything
        raise CheckpointError(
            f"{path}: not a complete file of torch.save ({type(error).__name__}); download it again"
        ) from None
    if not isinstance(content, dict) or not all(
        isinstance(name, str) and isinstance(tensor, Tensor) for name, tensor in content.items()
    ):
        raise CheckpointError(
            f"{path}: expected tensors by name, found {type(content).__name__}; save the model's "
            "state_dict only"
        )
    for name, tensor in content.items():
        _refuse_unstored(name, tensor, path)
    size, limit = sum(t.nbytes for t in content.values()), unpacked_limit(path.stat().st_size)
    if size > limit:  # names may share their numbers, but not all of them the same
        raise CheckpointError(
            f"{path}: expected at most {limit:,} bytes of tensors in the file, found {size:,}; "
            f"{how_to_raise()}"
        )
    refuse_not_finite(content, path)
    if all(name.startswith(_PARALLEL) for name in content):
        return {name.removeprefix(_PARALLEL): tensor for name, tensor in content.items()}
    return dict(content)


def _refuse_packed(path: Path) -> None:
    """Check that nothing in a file is compressed, as ``torch.save`` writes it: nothing unpacks."""
    if not zipfile.is_zipfile(path):
        return
    size = path.stat().st_size
    with zipfile.ZipFile(path) as archive:
        for part in archive.infolist():
            if part.compress_type != zipfile.ZIP_STORED or part.file_size > size:
                raise CheckpointError(
                    f"{path}: expected parts that are not compressed, as torch.save writes them, "
                    f"found {part.filename!r:.80} of {part.file_size:,} bytes, compressed; "
                    "download it again"
                )


def _refuse_unstored(name: str, tensor: Tensor, path: Path) -> None:
    """Check that a tensor has all of its numbers in the file, not a few of them repeated."""
    dense = tensor.layout == torch.strided and not tensor.is_quantized and not tensor.is_meta
    if not dense or tensor.nbytes > tensor.untyped_storage().nbytes():
        raise CheckpointError(
            f"{path}: {name}: expected a dense tensor with all of its numbers in the file, found "
            f"another of shape {tuple(tensor.shape)!s:.80}; save the state_dict again"
        )
