"""Atomic writing of a folder of files."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from zh_albert.errors import CheckpointError
from zh_albert.textio import HALF_WRITTEN


def replace_folder(folder: Path, files: Mapping[str, bytes | str]) -> None:
    """Write files into a folder, all or none.

    Everything is first written to a temporary folder beside ``folder``. A new folder then gets its
    name in one step. In an existing one each file is replaced in one step, which needs no further
    space; files not in ``files`` stay.

    Args:
        folder: Created if missing, with its parents.
        files: Name to content; text is written as UTF-8.

    Raises:
        CheckpointError: If the disk is full or the folder cannot be written. The old files are then
            intact.
    """
    temporary: Path | None = None
    try:
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "a file of that name exists")
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(
            tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.{HALF_WRITTEN}.")
        )
        for name, content in files.items():
            write_file(temporary / name, content.encode() if isinstance(content, str) else content)
        if folder.exists():
            for name in files:
                (temporary / name).replace(folder / name)
            _sync_folder(folder)
        else:
            umask = os.umask(0)
            os.umask(umask)
            temporary.chmod(0o777 & ~umask)  # mkdtemp creates folders only the owner can open
            _sync_folder(temporary)
            temporary.rename(folder)
            _sync_folder(folder.parent)
    except OSError as error:
        remedy = "choose another folder"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            remedy = f"free {sum(map(len, files.values())) / 1e6:.0f} MB there and save again"
        before = "; its files are unchanged" if folder.is_dir() else ""
        raise CheckpointError(
            f"{folder}: not saved: {error.strerror or error}{before}; {remedy}"
        ) from None
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def write_file(path: Path, content: bytes) -> None:
    """Write a file and wait until it is on disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Wait until new and changed names in a folder are on disk."""
    if os.name == "nt":  # folders cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
