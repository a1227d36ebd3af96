"""The surroundings of the page: its folder for files, and Gradio without requests."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from zh_albert.errors import MissingExtraError

HOST = "127.0.0.1"
_FOLDER = "zh-albert-demo-"
_LOCK = "in-use.lock"  # the system unlocks it when the page's process ends, however it ends


@contextmanager
def temporary_files() -> Iterator[Path]:
    """Give the page a folder for uploads and results, which is removed with it.

    Folders of pages that were killed are removed first.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*"):
        if (folder / _LOCK).is_file() and not folder.is_symlink():
            _remove_if_dead(folder)
    folder, lock = _own_folder()
    os.environ["GRADIO_TEMP_DIR"] = str(folder)
    try:
        yield folder
    finally:
        lock.release()
        shutil.rmtree(folder, ignore_errors=True)


def _own_folder() -> tuple[Path, FileLock]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_FOLDER))
        lock = FileLock(folder / _LOCK, thread_local=False)
        with suppress(OSError):
            lock.acquire()
            if (folder / _LOCK).exists():
                return folder, lock
        # Another page that starts took it for a dead one's, before it was locked.
        lock.release()


def _remove_if_dead(folder: Path) -> None:
    with suppress(OSError, Timeout):  # another user's, or one in use
        with FileLock(folder / _LOCK, timeout=0):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)  # Windows keeps a file that is open


def import_gradio() -> None:
    """Import Gradio, set up to call no other computer; modules that use it can be imported then.

    Raises:
        MissingExtraError: If it is not installed.
    """
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    for name in ("NO_PROXY", "no_proxy"):  # our own address needs no proxy
        known = os.environ.get(name, "")
        if HOST not in known.split(","):
            os.environ[name] = f"{known},{HOST}".lstrip(",")
    try:
        import gradio  # noqa: F401
    except ImportError:
        raise MissingExtraError.of("gradio", "demo") from None
