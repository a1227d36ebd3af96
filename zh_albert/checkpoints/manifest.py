"""``manifest.json``: the size and the digest of each file of a model folder."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from zh_albert.errors import CheckpointError
from zh_albert.files.plain_files import parse_json, read_plain, refuse_special

MANIFEST = "manifest.json"
_FORMAT, _FORMAT_VERSION = "zh-albert model folder", 1
_NOT_LISTED = (MANIFEST, "README.md")  # the model card may be edited


class ListedFile(NamedTuple):
    """What a manifest says of a file."""

    bytes: int
    sha256: str


Manifest = Mapping[str, ListedFile]


def write_manifest(files: Mapping[str, bytes]) -> bytes:
    """Return the content of the manifest of a folder with these files."""
    listed = {
        name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in sorted(files.items())
        if name not in _NOT_LISTED and "/" not in name  # one in a folder is another program's
    }
    content = {"format": _FORMAT, "format_version": _FORMAT_VERSION, "model_files": listed}
    return (json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def read_manifest(folder: Path) -> Manifest | None:
    """Read a folder's manifest.

    Returns:
        None if there is none, or the file of that name is another program's.

    Raises:
        CheckpointError: If it is damaged, or of a later version.
    """
    path = folder / MANIFEST
    try:
        content = parse_json(read_plain(path))
        # Two signs, so that a single damaged byte does not make it another program's.
        ours = isinstance(content, dict) and (
            content.get("format") == _FORMAT or "model_files" in content
        )
        if not ours:
            return None
        version = content["format_version"]
        listed = {
            name: ListedFile(one["bytes"], one["sha256"])
            for name, one in content["model_files"].items()
        }
        if content["format"] != _FORMAT or not all(map(_is_file_name, listed)):
            raise ValueError("another format, or a name outside the folder")
        if not all(isinstance(one.bytes, int) for one in listed.values()):
            raise ValueError("a size that is no number")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CheckpointError(
            f"{path}: damaged: expected the size and the sha256 of each file of the model; get or "
            "save the folder again"
        ) from None
    if version != _FORMAT_VERSION:
        raise CheckpointError(
            f"{path}: expected format_version {_FORMAT_VERSION}, found {version!r}; it was written "
            "by another version of zh-albert: install that one"
        )
    return listed


def _is_file_name(name: str) -> bool:
    """Return whether a name is one that a system has for a file, and leads to no other folder."""
    return Path(name).name == name and b"\0" not in os.fsencode(name)


def first_difference(folder: Path, manifest: Manifest) -> tuple[str, str] | None:
    """Return the name of the first file that is not the listed one, and what is wrong with it."""
    for name, listed in manifest.items():
        try:
            refuse_special(folder / name)
            with (folder / name).open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                size = file.tell()
        except FileNotFoundError:
            return name, "is missing"
        except OSError as error:
            return name, f"cannot be read ({error.strerror})"
        if size != listed.bytes:
            return name, f"has {size:,} bytes instead of {listed.bytes:,}"
        if digest != listed.sha256:
            return name, "has another content"
    return None
