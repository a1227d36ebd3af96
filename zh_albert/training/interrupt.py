"""Ctrl-C handling that stops between two updates, never within one."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stop_requests() -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether Ctrl-C or SIGTERM was received; a second one stops at
    once.

    Outside the main thread (the demo page trains in one) signal handlers are left alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    requested = False

    def request_stop(*_: object) -> None:
        nonlocal requested
        if requested:
            raise KeyboardInterrupt
        requested = True

    old = {
        number: signal.signal(number, request_stop) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield lambda: requested
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
