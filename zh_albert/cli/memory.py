"""Settings of the memory's managers for a program that works through many batches."""

from __future__ import annotations

import ctypes
import gc
import sys

_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4  # <malloc.h> of glibc


def keep_freed_memory() -> None:
    """Have glibc keep what is freed, for the next batch, instead of giving it back.

    By default every tensor of some megabytes is mapped anew and its pages are faulted in one by
    one: a quarter of a training step's time. For the whole process, so a program decides it, not
    the library. Nothing happens where the C library is another one.
    """
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_TRIM_THRESHOLD, -1)  # never give back
        mallopt(_M_MMAP_MAX, 0)  # nothing outside the heap


def keep_loaded_objects() -> None:
    """Have the garbage collector pass over what is there by now: libraries and a model stay.

    It would look at all of it again and again while answers pile up: a tenth of the time that
    entities take.
    """
    gc.freeze()
