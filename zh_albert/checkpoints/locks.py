"""Locks of the operating system on model folders; a killed job's are released by the system."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_PATIENCE_S = 30.0
_STEP_S = 0.005


@contextlib.contextmanager
def locked(folder: Path, *, shared: bool = False) -> Iterator[None]:
    """Hold a folder: readers share it, a writer has it alone.

    The lock is on the folder itself, so it leaves no file behind. Where there is none (Windows,
    some network disks), or it is not to be had in half a minute, the caller goes on without it: a
    lock only spares readers a second try, for the manifest shows every mixture.
    """
    if sys.platform == "win32":
        yield
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        yield
        return
    try:
        _wait(handle, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield
    finally:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_UN)  # a forked process has the handle, too
        os.close(handle)


def _wait(handle: int, kind: int) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_STEP_S)
        except OSError:  # this file system has no locks
            return
        else:
            return
