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

from zh_albert.errors import CheckpointError

_SUFFIXES = (".bin", ".pt", ".pth")
_TRANSFORMERS_NAME = "pytorch_model.bin"


def find_torch_file(source: Path) -> Path | None:
    """Return the file that ``source`` means, None if there is none.

    Raises:
        CheckpointError: If a folder has several.
    """
    if not source.is_dir():
        return source if source.suffix in _SUFFIXES else None
    if (source / _TRANSFORMERS_NAME).is_file():
        return source / _TRANSFORMERS_NAME
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
        with warnings.catch_warnings(action="ignore"):  # of old but readable files
            content = torch.load(
                path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path)
            )
    except (FileNotFoundError, PermissionError) as error:
        raise CheckpointError(f"{path}: {error.strerror}; check the path") from None
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
    return dict(content)
