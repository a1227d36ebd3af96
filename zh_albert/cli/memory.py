"""Memory management settings for a process that runs many batches."""

from __future__ import annotations

import ctypes
import gc
import sys

_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4  # <malloc.h> of glibc


def keep_freed_memory() -> None:
    """Have glibc keep freed memory for the next batch instead of returning it to the system.

    By default every tensor of several megabytes is mapped again and its pages are faulted in one by
    one, which takes a quarter of a training step's time. The setting applies to the whole process,
    so it is made by programs, not by the library. With other C libraries it does nothing.
    """
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_TRIM_THRESHOLD, -1)  # never return memory
        mallopt(_M_MMAP_MAX, 0)  # nothing outside the heap


def keep_loaded_objects() -> None:
    """Exclude all objects loaded so far (libraries, a model) from garbage collection.

    Otherwise the collector scans them repeatedly while answers accumulate, which takes a tenth of
    the time of entity tagging.
    """
    gc.freeze()
