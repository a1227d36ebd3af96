"""Construction of the parts of shards on Ray or Slurm, as a stage of datatrove."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from datatrove.pipeline.base import PipelineStep

from corpora_tools.build_parts import PartTask, build_part, read_record
from corpora_tools.executors import Executor, Stage, build_executor


class BuildPart(PipelineStep):
    """The only step of the stage: each task builds one part."""

    type = "write"
    name = "part"

    def __init__(self, tasks: Sequence[PartTask]) -> None:
        super().__init__()
        self.tasks = tasks

    def run(self, data: Any = None, rank: int = 0, world_size: int = 1) -> None:
        """Build the part."""
        build_part(self.tasks[rank])


def build_elsewhere(
    tasks: Sequence[PartTask],
    folder: Path,
    executor: Executor,
    workers: int | None,
    report: Callable[[int, int], None] | None,
) -> None:
    """Build the incomplete parts.

    Args:
        tasks: All parts; their paths must be valid on all machines.
        folder: Folder for datatrove's logs.
        executor: Where the parts are built.
        workers: Parts built at once; None: all.
        report: Called with parts done and parts in all.

    Raises:
        DataError: If a part could not be built.
    """
    shutil.rmtree(folder, ignore_errors=True)  # complete parts are known by their records
    waiting = [task for task in tasks if read_record(task) is None]
    stage = Stage("parts", [BuildPart(waiting)], len(waiting))
    done = len(tasks) - len(waiting)
    for _ in build_executor(executor, stage, workers, folder).run_tasks():
        done += 1
        if report:
            report(done, len(tasks))
