"""Files and folders that are being written, and those that a killed process never finished.

They stand beside their destination as ``.NAME.half-written.*``. Their writer holds a lock of the
operating system on them, which ends with its process: what nobody holds is left over, and the next
writer of the name, or whoever opens it next, removes it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import sys
from collections.abc import Iterable, Iterator
from glob import escape
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_MARK = "half-written"
EVERY = f".*.{_MARK}.*"
"""Pattern of the names of all of them in a folder."""


@contextlib.contextmanager
def half_written(destination: Path, *, is_folder: bool) -> Iterator[Path]:
    """Make an empty file or folder beside its destination, to be filled and renamed.

    At the end it is removed, unless it was renamed.

    Raises:
        OSError: If it cannot be made.
    """
    remove_left_over(destination)
    path, handle = _made(destination, is_folder)
    try:
        yield path
    finally:
        if handle is not None:
            with contextlib.suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_UN)  # a forked process has the handle, too
            os.close(handle)
        _remove(path)


def left_over(destination: Path) -> list[Path]:
    """Return what is or was being written beside a destination."""
    pattern = f".{escape(destination.name)}.{_MARK}.*"
    try:
        return sorted(destination.parent.glob(pattern))
    except OSError:
        return []


def remove_left_over(destination: Path) -> None:
    """Remove what killed processes left beside a destination; see ``remove_unheld``."""
    remove_unheld(left_over(destination))


def remove_unheld(paths: Iterable[Path]) -> None:
    """Remove those files and folders that no living process writes.

    Where the system has no such locks (Windows, some network disks), nothing is removed.
    """
    if sys.platform == "win32":
        return
    for path in paths:
        with contextlib.suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(path)
            finally:
                os.close(handle)


def _made(destination: Path, is_folder: bool) -> tuple[Path, int | None]:
    """Return a new file or folder, and the handle that holds it; None where there are no locks."""
    while True:
        path = destination.parent / f".{destination.name}.{_MARK}.{secrets.token_hex(4)}"
        if is_folder:
            path.mkdir()
        else:
            path.touch(exist_ok=False)
        if sys.platform == "win32":
            return path, None
        try:
            handle = os.open(path, os.O_RDONLY)
        except FileNotFoundError:  # removed before it was held
            continue
        with contextlib.suppress(OSError):  # this file system has no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        if path.exists():
            return path, handle
        os.close(handle)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    elif path.exists():
        path.unlink(missing_ok=True)
