"""Building of parts on Ray or Slurm, as a stage of datatrove."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from datatrove.pipeline.base import PipelineStep

from corpora_tools.build_parts import PartTask, build_part, read_record
from corpora_tools.executors import Executor, PipelineStage, build_executor


class BuildPart(PipelineStep):
    """The only step of the stage: one part per task."""

    type = "write"
    name = "part"

    def __init__(self, tasks: Sequence[PartTask]) -> None:
        super().__init__()
        self.tasks = tasks

    def run(self, data: Any = None, rank: int = 0, world_size: int = 1) -> None:
        """Build the part of this task."""
        build_part(self.tasks[rank])


def build_elsewhere(
    tasks: Sequence[PartTask],
    folder: Path,
    executor: Executor,
    workers: int | None,
    report: Callable[[int, int], None] | None,
) -> None:
    """Build the parts that are not complete.

    Args:
        tasks: All parts; their paths must be valid on all machines.
        folder: For datatrove's logs.
        executor: Where parts are built.
        workers: Parts built at once; None: all.
        report: Called with the number of finished parts and of all.

    Raises:
        DataError: If a part could not be built.
    """
    shutil.rmtree(folder, ignore_errors=True)  # the parts' own records show which are complete
    waiting = [task for task in tasks if read_record(task) is None]
    stage = PipelineStage("parts", [BuildPart(waiting)], len(waiting))
    done = len(tasks) - len(waiting)
    for _ in build_executor(executor, stage, workers, folder).run_tasks():
        done += 1
        if report:
            report(done, len(tasks))
