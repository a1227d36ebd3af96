"""The surroundings of the page: its port, its folder for files, and Gradio without requests."""

from __future__ import annotations

import errno
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zh_albert.errors import MissingExtraError, ZhAlbertError

HOST = "127.0.0.1"


def bound(port: int) -> socket.socket:
    """Return a socket that holds a port of this computer; 0 takes a free one.

    Raises:
        ZhAlbertError: If it cannot be used.
    """
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
    except OSError as error:
        listening.close()
        taken = error.errno == errno.EADDRINUSE
        problem = "is in use" if taken else f"cannot be opened ({error.strerror})"
        raise ZhAlbertError(
            f"{HOST}: port {port} {problem}; choose another one, or a free one: "
            "zh-albert demo --port 0"
        ) from None
    return listening


@contextmanager
def temporary_files() -> Iterator[Path]:
    """Give the page a folder for uploads and results, which is removed with it."""
    with tempfile.TemporaryDirectory(prefix="zh-albert-demo-", ignore_cleanup_errors=True) as name:
        os.environ["GRADIO_TEMP_DIR"] = name
        yield Path(name)


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
