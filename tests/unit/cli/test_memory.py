"""Settings of the memory's managers."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from zh_albert.cli.memory import keep_loaded_objects

# Page faults of fifty arrays of 40 MB, each freed before the next.
PROGRAM = """
import resource, sys
import numpy as np
from zh_albert.cli.memory import keep_freed_memory
if "keep" in sys.argv:
    keep_freed_memory()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(50):
    np.ones(10_000_000, np.float32)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's allocator")
def test_freed_memory_is_used_again() -> None:
    def faults(*arguments: str) -> int:
        program = [sys.executable, "-c", PROGRAM, *arguments]
        return int(subprocess.run(program, check=True, capture_output=True, text=True).stdout)

    assert faults("keep") < faults() / 3


def test_what_is_loaded_is_not_collected_again() -> None:
    loaded: list[list[int]] = [[]]
    try:
        keep_loaded_objects()
        assert gc.get_freeze_count() > 0
        assert not any(one is loaded for one in gc.get_objects())
    finally:
        gc.unfreeze()
