"""Executors of a stage's tasks: local processes, a Ray cluster or Slurm, all from datatrove.

They are interchangeable: completions are files in the stage's folder, so a task finished by one
counts for the others, and the bytes that a task writes do not depend on the executor.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import redirect_stderr
from copy import deepcopy
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, Protocol

import multiprocess
from datatrove.executor.local import LocalPipelineExecutor
from datatrove.executor.ray import RayPipelineExecutor
from datatrove.executor.slurm import SlurmPipelineExecutor
from loguru import logger
from multiprocess import forkserver, resource_tracker

from zh_albert.errors import ConfigError, DataError, MissingExtraError
from zh_albert.training.interrupt import stop_requests

Executor = Literal["local", "ray", "slurm"]
_WATCH_S = 1.0  # between looks at the workers
_FAILED = re.compile(r"^(?:[a-z_]+\.)*(?:[A-Z]\w+): (.+)$")  # last line of a traceback


@dataclass(frozen=True)
class PipelineStage:
    """Steps that run in each of several tasks, after all tasks of the previous stage."""

    name: str
    steps: list[Any]
    tasks: int


class TaskRunner(Protocol):
    """Executor of one stage."""

    def get_incomplete_ranks(self) -> list[int]:
        """Return the numbers of the unfinished tasks."""
        ...

    def run_tasks(self) -> Iterator[int]:
        """Run them; yield a task's number when it is finished."""
        ...


def build_executor(
    executor: Executor, stage: PipelineStage, workers: int | None, folder: Path
) -> TaskRunner:
    """Return an executor for a stage.

    Args:
        executor: Type of the executor.
        stage: The stage to run.
        workers: Tasks at once; None: one per core, or all of them on a cluster.
        folder: For the stage's completions, counts and logs; on a shared disk if on a cluster.
    """
    logger.disable("datatrove")
    if executor == "ray":
        return RayExecutor(stage, workers or -1, folder)
    if executor == "slurm":
        return SlurmExecutor(stage, workers or -1, folder)
    return LocalExecutor(stage, workers or os.cpu_count() or 1, folder)


class LocalExecutor(LocalPipelineExecutor):
    """datatrove's local executor with a pool that always ends with its job.

    (datatrove's own keeps a manager process and idle workers that outlive a killed job.) It prints
    nothing: messages and tracebacks are in the logs.
    """

    def __init__(self, stage: PipelineStage, workers: int, folder: Path) -> None:
        self.pipeline: list[Any] = stage.steps
        super().__init__(
            stage.steps,
            tasks=stage.tasks,
            workers=min(workers, stage.tasks),
            logging_dir=str(folder),
        )

    def run_tasks(self) -> Iterator[int]:
        """Run the unfinished tasks; yield a task's number when it is finished.

        Raises:
            DataError: If a worker was killed.
        """
        ranks = self.get_incomplete_ranks()
        if self.workers == 1 or len(ranks) <= 1:
            yield from map(self.run_task, ranks)
        else:
            context = _forkserver()
            # A worker that begins when its job has ended lacks what they share, and would print a
            # traceback after a Ctrl-C.
            with stop_requests() as stop_requested:
                pool = context.Pool(min(self.workers, len(ranks)), _end_with_parent)
            with pool:
                if stop_requested():
                    raise KeyboardInterrupt
                yield from _results(pool, pool.imap_unordered(self.run_task, ranks), len(ranks))

    def run_task(self, rank: int) -> int:
        """Run one task in this process, on copies of the steps, because steps keep counts."""
        steps = self.pipeline
        self.pipeline = deepcopy(steps)
        logger.enable("datatrove")
        try:
            with redirect_stderr(io.StringIO()):
                self._run_for_rank(rank)
        finally:
            logger.disable("datatrove")
            self.pipeline = steps
        return rank


class RayExecutor(RayPipelineExecutor):
    """datatrove's Ray executor, on the cluster of ``RAY_ADDRESS`` or on a new local one."""

    def __init__(self, stage: PipelineStage, workers: int, folder: Path) -> None:
        super().__init__(
            stage.steps, tasks=stage.tasks, workers=workers, logging_dir=str(folder.resolve())
        )
        self.stage, self.folder = stage, folder.resolve()

    def run_tasks(self) -> Iterator[int]:
        """Run the unfinished tasks; yield their numbers when all are finished.

        Raises:
            MissingExtraError: If Ray is not installed.
            DataError: If a task failed; datatrove writes the reason to a log.
        """
        ranks = self.get_incomplete_ranks()
        if not ranks:
            return
        try:
            import ray  # noqa: PLC0415  (an extra)
        except ImportError:
            raise MissingExtraError.of("ray", "ray") from None
        if not ray.is_initialized():
            # Without an address, Ray would join any cluster that it finds, and stop with it.
            address = os.environ.get("RAY_ADDRESS", "local")
            ray.init(address, log_to_driver=False, logging_level="ERROR")
        self.run()
        yield from _finished(self, ranks, "Ray lost it")


class SlurmExecutor(SlurmPipelineExecutor):
    """datatrove's Slurm executor, which waits for its jobs to end.

    Partition, time, account and the like are set by Slurm's own ``SBATCH_PARTITION``,
    ``SBATCH_TIMELIMIT``, ``SBATCH_ACCOUNT`` …; none is set here.
    """

    def __init__(self, stage: PipelineStage, workers: int, folder: Path) -> None:
        super().__init__(
            stage.steps,
            tasks=stage.tasks,
            time="",
            partition="",
            qos="",
            workers=workers,
            job_name=f"zh-corpora-{stage.name}-{_digest(folder)}",
            logging_dir=str(folder.resolve()),
            # datatrove's command is beside this Python.
            env_command=f'export PATH="{Path(sys.executable).parent}:$PATH"',
            sbatch_args={"wait": ""},
            requeue=False,
        )
        self.stage, self.folder = stage, folder.resolve()

    def get_sbatch_args(self, max_array: int = 1) -> dict[str, Any]:
        """Return the script's directives, without those that the environment sets."""
        found: dict[str, Any] = super().get_sbatch_args(max_array)
        return {name: value for name, value in found.items() if value or name == "wait"}

    def launch_merge_stats(self) -> None:
        """Queue no job to merge statistics: the counts of all tasks are added up by the caller."""

    def run_tasks(self) -> Iterator[int]:
        """Queue the unfinished tasks and wait; yield their numbers when all are finished.

        Raises:
            ConfigError: If Slurm is not installed.
            DataError: If a task failed, or Slurm refused the job.
        """
        if not shutil.which("sbatch"):
            raise ConfigError("--executor slurm needs sbatch on the PATH; run it where Slurm is")
        ranks, code = self.get_incomplete_ranks(), 0
        try:
            if ranks:
                self.launch_job()
        except subprocess.CalledProcessError as error:
            code = error.returncode
        except BaseException:  # including Ctrl-C: queued jobs must not continue alone
            subprocess.run(["scancel", f"--name={self.job_name}"], check=False)  # noqa: S603, S607
            raise
        yield from _finished(self, ranks, f"sbatch ended with code {code}")


def _finished(runner: RayExecutor | SlurmExecutor, ranks: list[int], otherwise: str) -> list[int]:
    """Return the tasks that were run.

    Raises:
        DataError: If some are unfinished, with the reason of the first from its log.
    """
    left = runner.get_incomplete_ranks()
    if not left:
        return ranks
    log = runner.folder / "logs" / f"task_{left[0]:05d}.log"
    lines = log.read_text("utf-8", errors="replace").splitlines() if log.exists() else []
    reasons = (match[1] for line in reversed(lines) if (match := _FAILED.match(line)))
    raise DataError(
        f"{runner.stage.name}: {len(left)} of {runner.stage.tasks} tasks failed, task {left[0]}: "
        f"{next(reasons, otherwise)} (see {log.parent}; run the same command to continue)"
    )


def _digest(folder: Path) -> str:
    return blake2b(os.fsencode(folder.resolve()), digest_size=4).hexdigest()


def _forkserver() -> Any:
    """Return the context for workers: forked from a server that has already imported the modules.

    The server ignores Ctrl-C, and so do its children; the job handles it.
    """
    context = multiprocess.get_context("forkserver")
    context.set_forkserver_preload(["corpora_tools.pipeline"])
    resource_tracker.ensure_running()  # before the next line, because it unblocks SIGINT
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    return context


def _results(pool: Any, found: Any, count: int) -> Iterator[int]:
    """Yield what a pool's workers return, as long as all of them live.

    A pool replaces a worker that was killed and waits forever for what that one was doing.
    """
    workers = {worker.pid for worker in pool._pool}
    for _ in range(count):
        result = None
        while result is None:
            try:
                result = found.next(timeout=_WATCH_S)
            except multiprocess.TimeoutError:
                if {worker.pid for worker in pool._pool} != workers:
                    raise DataError(
                        "a worker process was killed (out of memory?); run the same command again, "
                        "with fewer --workers: finished tasks are kept"
                    ) from None
        yield result


def _end_with_parent() -> None:
    """End this worker when the job's process has ended, by a kill or otherwise."""
    parent = multiprocess.parent_process()

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
