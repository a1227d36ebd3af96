"""Reading of a model folder as a whole: the files of one save, none of them damaged."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Literal

from zh_albert.checkpoints.files import EXPORTED_NETWORKS
from zh_albert.checkpoints.folder import finish_save, holds_save
from zh_albert.checkpoints.locks import locked
from zh_albert.checkpoints.manifest import MANIFEST, Manifest, first_difference, read_manifest
from zh_albert.errors import CheckpointError
from zh_albert.files.half_written import remove_left_over
from zh_albert.files.plain_files import refuse_special

_PAUSE_S = 0.2
# Folders that are being read, and their manifests: what is called inside does not check again.
_BEING_READ: ContextVar[Mapping[Path, Manifest]] = ContextVar("_BEING_READ", default={})  # noqa: B039


@contextmanager
def verified(folder: Path, *, changed: Literal["refuse", "tell"] = "refuse") -> Iterator[None]:
    """Check a folder's files against its manifest, and keep writers away while they are read.

    Folders without a manifest (older ones, those of other programs) are taken as they are.

    Args:
        folder: A model folder; if there is none, whatever reads it says so.
        changed: What to do if a file is not the listed one: ``tell`` gives a warning.

    Raises:
        CheckpointError: If a file is damaged, missing or of another save, or is replaced meanwhile
            (where there are no locks).
    """
    key = folder.resolve()
    if key in _BEING_READ.get() or not folder.is_dir():
        yield
        return
    with _settled(folder):
        manifest = _check(folder, changed)
        before = _identities(folder, manifest)
        token = _BEING_READ.set({**_BEING_READ.get(), key: manifest})
        try:
            yield
        finally:
            _BEING_READ.reset(token)
        if _identities(folder, manifest) != before:
            raise CheckpointError(
                f"{folder}: another program changed it while it was read: open it again"
            )


def verified_digest(folder: Path, name: str) -> str | None:
    """Return the SHA-256 of a file of a folder inside ``verified``, which has computed it."""
    listed = _BEING_READ.get().get(folder.resolve(), {}).get(name)
    return listed.sha256 if listed else None


@contextmanager
def _settled(folder: Path) -> Iterator[None]:
    """Share the lock of a folder in which no save is left to be finished."""
    remove_left_over(folder)
    while True:
        finish_save(folder)
        with locked(folder, shared=True):
            if not holds_save(folder):  # else a writer was killed before we had the lock
                yield
                return


def _check(folder: Path, changed: Literal["refuse", "tell"]) -> Manifest:
    """Compare a folder with its manifest; return it, or nothing of a folder that differs.

    It tries twice, because a program that copies the folder may be at work.
    """
    for name in EXPORTED_NETWORKS:  # opened by other libraries
        try:
            refuse_special(folder / name)
        except OSError as error:
            raise CheckpointError(f"{folder / name}: {error.strerror}") from None
    manifest, found = _compare(folder)
    if found is not None:
        time.sleep(_PAUSE_S)
        manifest, found = _compare(folder)
    if found is None:
        return manifest
    name, problem = found
    if changed == "tell":
        warnings.warn(f"{folder / name} {problem}: taken as it is", stacklevel=4)
        return {}
    raise CheckpointError(
        f"{folder / name}: {problem}, by {MANIFEST} there: the file is damaged or of another save, "
        "or another program has changed the folder; get or save it again, or take it over as it "
        f"is: zh-albert convert {folder} NEW_FOLDER"
    )


def _compare(folder: Path) -> tuple[Manifest, tuple[str, str] | None]:
    manifest = read_manifest(folder) or {}
    return manifest, first_difference(folder, manifest)


def _identities(folder: Path, manifest: Manifest) -> list[tuple[int, int, int] | None]:
    """Return what changes when one of the files is replaced or written to."""
    found: list[tuple[int, int, int] | None] = []
    for name in (MANIFEST, *manifest):
        try:
            status = (folder / name).stat()
        except OSError:
            found.append(None)
        else:
            found.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return found
