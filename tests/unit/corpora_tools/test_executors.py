"""Executors of a stage's tasks."""

from __future__ import annotations

import os
import signal

import pytest

from corpora_tools.executors import LocalExecutor, PipelineStage
from zh_albert.errors import DataError


class Killed(LocalExecutor):
    """An executor whose second task is killed, as by a system without memory."""

    def run_task(self, rank: int) -> int:
        if rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return rank


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_worker_that_is_killed_ends_the_job(tmp_path):
    executor = Killed(PipelineStage("clean", [], 4), 2, tmp_path)
    with pytest.raises(DataError, match=r"a worker process was killed .* finished tasks are kept"):
        list(executor.run_tasks())
