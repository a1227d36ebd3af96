"""The folder of a job: one job at a time, and nothing half written stays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from zh_albert.errors import ConfigError
from zh_albert.training.run_folder import open_run, release

_JOB = """
import sys, time
from pathlib import Path
from zh_albert.training.run_folder import open_run
open_run(Path(sys.argv[1]), "lr = 1", resume=True)
print("open", flush=True)
time.sleep(60)
"""


def test_two_jobs_in_one_folder_are_refused_until_the_first_is_gone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with subprocess.Popen([sys.executable, "-c", _JOB, out], stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        first.stdout.readline()
        with pytest.raises(ConfigError, match="another job is running there"):
            open_run(out, "lr = 1", resume=True)
        first.kill()
    open_run(out, "lr = 1", resume=True)
    open_run(out, "lr = 1", resume=True)  # the same process may come again


def test_what_a_killed_run_left_half_written_is_cleared_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "out[1]"
    (out / "training").mkdir(parents=True)
    left = (tmp_path / ".out[1].half-written.abc", out / "training/.state.half-written.x1")
    others = (tmp_path / ".out[1].original", tmp_path / ".out1.half-written.abc", out / ".notes")
    for folder in (left[0], *others):
        folder.mkdir()
        (folder / "model.safetensors").touch()
    left[1].touch()
    open_run(out, "lr = 1", resume=True)
    assert not any(path.exists() for path in left)
    assert all((folder / "model.safetensors").exists() for folder in others)
    release(out)
