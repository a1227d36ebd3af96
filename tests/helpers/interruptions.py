"""What came of interrupting writers; see ``tests.helpers.interrupted``, a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[2]


def interruptions(*what: str) -> dict[str, dict[str, Any]]:
    """Interrupt writers; return what ``tests.helpers.interrupted`` prints.

    Raises:
        RuntimeError: If it did not come to its end.
    """
    command = [sys.executable, "-m", "tests.helpers.interrupted", *what]
    memory = Path("/dev/shm")  # waiting for a disk is not what is tested
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    if memory.is_dir():
        environment["TMPDIR"] = str(memory)
    ran = subprocess.run(
        command, cwd=_ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if ran.returncode:
        raise RuntimeError(ran.stderr)
    results: dict[str, dict[str, Any]] = json.loads(ran.stdout)
    return results
