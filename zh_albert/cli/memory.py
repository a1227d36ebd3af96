"""Memory management settings for programs that process many batches."""

from __future__ import annotations

import ctypes
import gc
import sys

_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4  # <malloc.h> of glibc


def keep_freed_memory() -> None:
    """Let glibc keep freed memory for the next batch instead of returning it to the system.

    By default every tensor of several megabytes is mapped anew and its pages fault in one by one,
    which takes a quarter of a training step. The setting applies to the whole process, so programs
    make it, not the library. It has no effect with other C libraries.
    """
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_TRIM_THRESHOLD, -1)  # never return memory
        mallopt(_M_MMAP_MAX, 0)  # allocate only from the heap


def keep_loaded_objects() -> None:
    """Exclude existing objects (libraries and a model) from garbage collection.

    Otherwise they are traversed again and again while answers accumulate: a tenth of the time of
    entity recognition.
    """
    gc.freeze()
