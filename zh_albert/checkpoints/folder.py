"""Atomic writing of a folder of files: afterwards it is the old one or the new one.

A new folder gets its name in one step. In an existing one, the complete new files first get the
name ``SAVED`` inside it, in one step: from then on they are the folder's. They are then moved to
their places one by one, and whoever opens the folder next finishes that after a kill. Nothing else
in the folder is touched, so a run that holds a lock in it goes on.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
from collections.abc import Mapping
from pathlib import Path

from zh_albert.checkpoints.files import EXPORT_METADATA, EXPORTED_NETWORKS, NGRAMS
from zh_albert.checkpoints.locks import locked
from zh_albert.checkpoints.manifest import MANIFEST, read_manifest, write_manifest
from zh_albert.errors import CheckpointError
from zh_albert.files.half_written import half_written

SAVED = ".saved"
_VOCABULARIES = frozenset({"vocab.txt", "spiece.model", "tokenizer.json"})
_BESIDE = frozenset({NGRAMS, "tokenizer_config.json", "modules.json"})


def replace_folder(folder: Path, files: Mapping[str, bytes | str]) -> None:
    """Write a model's files and their manifest into a folder, all or none.

    Everything is first written to a temporary folder beside ``folder``. An export, and what the
    manifest of before lists of vocabulary, tokenizer settings and n-grams, is removed if ``files``
    have a vocabulary but not that: it is of the model that was there before. Other files stay.

    Args:
        folder: Created if missing, with its parents.
        files: Name to content; text is written as UTF-8. A name may be in a folder (``a/b``) if
            the folder to write is new.

    Raises:
        CheckpointError: If the disk is full or the folder cannot be written.
    """
    contents = {n: c.encode() if isinstance(c, str) else c for n, c in files.items()}
    contents[MANIFEST] = write_manifest(contents)  # the last one
    saved = False
    try:
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "a file of that name exists")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with half_written(folder, is_folder=True) as new:
            for name, content in contents.items():
                (new / name).parent.mkdir(exist_ok=True)
                write_file(new / name, content)
            _sync_folder(new)
            if folder.exists():
                with locked(folder):
                    _move_in(folder)  # what a killed job left
                    new.rename(folder / SAVED)
                    saved = True
                    _sync_folder(folder)
                    _move_in(folder)
            else:
                new.rename(folder)
                saved = True
                _sync_folder(folder.parent)
    except OSError as error:
        what = error.strerror or error
        if saved:
            raise CheckpointError(
                f"{folder}: saved, but then the disk failed ({what}): open the folder to see "
                "whether the new model is whole, or save again elsewhere"
            ) from None
        remedy = "choose another folder"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            needed = math.ceil(sum(map(len, contents.values())) / 1e6)
            remedy = f"free {needed} MB there and save again"
        before = "; its files are unchanged" if folder.is_dir() else ""
        raise CheckpointError(f"{folder}: not saved: {what}{before}; {remedy}") from None


def holds_save(folder: Path) -> bool:
    """Return whether a complete save waits in a folder to be moved to its places.

    A file or a link of that name is no save: a link could lead to anybody's files.
    """
    saved = folder / SAVED
    return saved.is_dir() and not saved.is_symlink()


def finish_save(folder: Path) -> None:
    """Move the files of a complete save to their places, if a killed job left them.

    Raises:
        CheckpointError: If this process must not write there.
    """
    if not holds_save(folder):
        return
    try:
        with locked(folder):
            _move_in(folder)
    except OSError as error:
        raise CheckpointError(
            f"{folder}: a save was cut off there and cannot be finished ({error.strerror}): open "
            "the folder once as a user who may write in it"
        ) from None


def write_file(path: Path, content: bytes) -> None:
    """Write a file and wait until it is on disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _move_in(folder: Path) -> None:
    """Put a complete save in its places; after a kill at any step it can be done again."""
    if not holds_save(folder):
        return
    saved = folder / SAVED
    before = read_manifest(folder) or {}
    listed = read_manifest(saved) or before
    gone = {EXPORT_METADATA, *EXPORTED_NETWORKS}
    if _VOCABULARIES & listed.keys():  # what the model before was read with would be taken for its
        gone |= (_VOCABULARIES | _BESIDE) & before.keys()
    for name in gone - listed.keys():
        (folder / name).unlink(missing_ok=True)
    for path in sorted(saved.iterdir(), key=lambda path: path.name == MANIFEST):
        with contextlib.suppress(FileNotFoundError):  # moved by another process, without locks
            path.replace(folder / path.name)
    _sync_folder(folder)
    with contextlib.suppress(FileNotFoundError):
        saved.rmdir()


def _sync_folder(folder: Path) -> None:
    """Wait until new and changed names in a folder are on disk."""
    if os.name == "nt":  # folders cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
