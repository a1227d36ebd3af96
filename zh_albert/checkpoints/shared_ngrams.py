"""N-grams that a small bundled model has from a larger one, instead of a file of its own.

The settings of its n-grams name the bundled model (``of``) and the digest of the file (``sha256``).
Whatever is written from such a model has the file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zh_albert.checkpoints import resolve
from zh_albert.checkpoints.files import NGRAMS
from zh_albert.errors import CheckpointError
from zh_albert.files.plain_files import parse_json, read_plain

_CONFIG = "config.json"
REFERENCE = ("of", "sha256")
"""Settings of n-grams that name another model's."""


def ngrams_file(folder: Path, settings: Mapping[str, Any]) -> Path:
    """Return the file with the n-grams of a model folder: its own, or a bundled model's.

    Args:
        folder: The model folder.
        settings: ``ngrams`` of its task settings.

    Raises:
        CheckpointError: If the bundled model is not there, or its n-grams are others.
    """
    name = settings.get("of")
    if name is None:
        return folder / NGRAMS
    if name not in resolve.bundled_models():
        raise CheckpointError(
            f"{folder}: its n-grams are those of the bundled model {name!r}, which this version of "
            "zh-albert does not have; install the version that the folder is from"
        )
    file: Path = resolve.BUNDLED / name / NGRAMS
    try:
        found = hashlib.sha256(read_plain(file, limited=False)).hexdigest()
    except OSError as error:
        raise CheckpointError(
            f"{file}: cannot be read ({error.strerror}), and {folder} needs it; install zh-albert "
            "again"
        ) from None
    if found != settings.get("sha256"):
        raise CheckpointError(
            f"{folder}: expected n-grams of the bundled model {name!r} with the sha256 "
            f"{settings.get('sha256')!s:.12}…, found {found:.12}…; install the version of "
            "zh-albert that the folder is from"
        )
    return file


def of_its_own(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of n-grams without those that name another model's."""
    return {name: value for name, value in settings.items() if name not in REFERENCE}


def with_own_ngrams(
    folder: Path, task: Mapping[str, Any], files: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Return the files of a model folder, the n-grams among them that it has from another.

    Args:
        folder: The model folder.
        task: Its task settings.
        files: Name to content; ``config.json`` is changed if it is there.

    Raises:
        CheckpointError: See ``ngrams_file``.
    """
    ngrams = task.get("ngrams") or {}
    if "of" not in ngrams:
        return dict(files)
    own = {**files, NGRAMS: ngrams_file(folder, ngrams).read_bytes()}
    if _CONFIG in files:
        config = parse_json(files[_CONFIG])
        config["zh_albert"]["task"]["ngrams"] = of_its_own(ngrams)
        text = json.dumps(config, indent=2, ensure_ascii=False, allow_nan=False)
        own[_CONFIG] = f"{text}\n".encode()
    return own
