"""Resolution of a model's name to its folder: a bundled name, a path, or a hub id."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path

from zh_albert.errors import CheckpointError, nearest

BUNDLED = Path(__file__).parent.parent / "bundled"
HUB_FILES = (
    *("*.json", "*.jsonl", "*.safetensors", "vocab.txt", "spiece.model", "ngrams.npz", "README.md"),
    *("model.onnx", "openvino.xml", "openvino.bin"),
)
"""File patterns of a model folder; only these are downloaded from a hub repository. They cover
whatever a manifest lists."""


def bundled_models() -> list[str]:
    """Return the names of the models that come with the package, sorted.

    >>> "sentiment" in bundled_models()
    True
    """
    return sorted(path.parent.name for path in BUNDLED.glob("*/config.json"))


def resolve_model(model: str | Path) -> Path:
    """Return the folder of a bundled model, a local path or a hub id (``owner/name``).

    A bundled name always means the bundled model. A folder of that name in the working directory
    is written ``./ner``, or given as a ``Path``; a warning says so if there is one.
    Only a hub id uses the network, and only if it was not downloaded before.

    Raises:
        CheckpointError: If there is no such model; the nearest bundled name is suggested.
    """
    if not isinstance(model, str | Path):
        raise CheckpointError(
            f"expected a model's name or folder, found {type(model).__name__}: {model!r:.50}"
        )
    path, name = expanded(model), str(model)
    bundled = name in bundled_models()
    if bundled and isinstance(model, str):
        if path.is_dir():
            warnings.warn(
                f"{name}: the bundled model is taken, not the folder of that name here; for the "
                f"folder, write ./{name}",
                stacklevel=2,
            )
        return BUNDLED / name
    if name and _is(path.is_dir):
        return path
    if bundled:
        return BUNDLED / name
    if name and _is(path.exists):
        raise CheckpointError(f"{name}: expected a model folder, found a file")
    if re.fullmatch(r"[\w-][\w.-]*/[\w-][\w.-]*", name) and not _is(path.parent.is_dir):
        return _from_hub(name)
    hint = nearest(name, bundled_models())
    raise CheckpointError(
        f"{name!r:.80}: no such model folder, nor a bundled model ({hint}), nor a hub id "
        "(owner/name)"
    )


def expanded(path: str | Path) -> Path:
    """Return a path with ``~`` replaced; a ``~NAME`` of no user stays as it is written."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def resolve_init(model: str) -> Path | None:
    """Return the folder whose weights initialize a run; None for ``"random"``.

    Args:
        model: ``"random"``, or a name that ``resolve_model`` accepts.

    Raises:
        CheckpointError: If there is no such model.
    """
    return None if model == "random" else resolve_model(model)


def _is(asked: Callable[[], bool]) -> bool:
    """Return what a path is asked; no, if it is too long for a path, as a text may be."""
    try:
        return asked()
    except OSError:
        return False


def _from_hub(model: str) -> Path:
    from huggingface_hub import snapshot_download  # noqa: PLC0415  (slow to import, rarely used)

    try:
        return Path(snapshot_download(model, allow_patterns=list(HUB_FILES)))
    except Exception as error:  # the hub client raises a dozen types, and those of httpx
        raise CheckpointError(
            f"{model}: could not be downloaded from the hub ({type(error).__name__}); check the "
            "name and the network, or give a local folder"
        ) from None
