"""Executors of a stage's tasks, based on datatrove's: local processes, Ray or Slurm.

Completed tasks are recorded as files in the stage's folder, so another executor can continue a job;
the output of a task does not depend on where it ran.
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

Executor = Literal["local", "ray", "slurm"]
_FAILED = re.compile(r"^(?:[a-z_]+\.)*(?:[A-Z]\w+): (.+)$")  # a traceback's last line


@dataclass(frozen=True)
class Stage:
    """Steps that run in each of a number of tasks, after all tasks of the previous stage."""

    name: str
    steps: list[Any]
    tasks: int


class TaskRunner(Protocol):
    """An executor of one stage."""

    def get_incomplete_ranks(self) -> list[int]:
        """Return the numbers of the tasks that are not done."""
        ...

    def run_tasks(self) -> Iterator[int]:
        """Run them; yield a task's number when it is done."""
        ...


def build_executor(
    executor: Executor, stage: Stage, workers: int | None, folder: Path
) -> TaskRunner:
    """Return the executor of a stage.

    Args:
        executor: Name of the executor.
        stage: The stage to run.
        workers: Tasks at once; None: the number of local cores, or all tasks on a cluster.
        folder: Folder for the stage's completions, counts and logs; on a cluster, on a shared disk.
    """
    logger.disable("datatrove")
    if executor == "ray":
        return RayExecutor(stage, workers or -1, folder)
    if executor == "slurm":
        return SlurmExecutor(stage, workers or -1, folder)
    return LocalExecutor(stage, workers or os.cpu_count() or 1, folder)


class LocalExecutor(LocalPipelineExecutor):
    """datatrove's local executor, with a process pool that always ends with its job.

    (datatrove's own keeps a manager process and idle workers that outlive a killed job.) It is
    silent on the terminal: messages and tracebacks are in the logs.
    """

    def __init__(self, stage: Stage, workers: int, folder: Path) -> None:
        self.pipeline: list[Any] = stage.steps
        super().__init__(
            stage.steps,
            tasks=stage.tasks,
            workers=min(workers, stage.tasks),
            logging_dir=str(folder),
        )

    def run_tasks(self) -> Iterator[int]:
        """Run the tasks that are not done; yield a task's number when it is."""
        ranks = self.get_incomplete_ranks()
        if self.workers == 1 or len(ranks) <= 1:
            yield from map(self.run_task, ranks)
        else:
            context = _forkserver()
            with context.Pool(min(self.workers, len(ranks)), _end_with_parent) as pool:
                yield from pool.imap_unordered(self.run_task, ranks)

    def run_task(self, rank: int) -> int:
        """Run one task in this process, on copies of the steps, which hold counts."""
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

    def __init__(self, stage: Stage, workers: int, folder: Path) -> None:
        super().__init__(
            stage.steps, tasks=stage.tasks, workers=workers, logging_dir=str(folder.resolve())
        )
        self.stage, self.folder = stage, folder.resolve()

    def run_tasks(self) -> Iterator[int]:
        """Run the tasks that are not done; yield their numbers when all are.

        Raises:
            MissingExtraError: If Ray is not installed.
            DataError: If one failed; datatrove leaves its reason in a log.
        """
        ranks = self.get_incomplete_ranks()
        if not ranks:
            return
        try:
            import ray  # noqa: PLC0415  (an extra)
        except ImportError:
            raise MissingExtraError.of("ray", "ray") from None
        if not ray.is_initialized():
            # Without an address Ray would join any local cluster, and end with it.
            address = os.environ.get("RAY_ADDRESS", "local")
            ray.init(address, log_to_driver=False, logging_level="ERROR")
        self.run()
        yield from _finished(self, ranks, "Ray lost it")


class SlurmExecutor(SlurmPipelineExecutor):
    """datatrove's Slurm executor, which waits until its jobs have ended.

    Partition, time, account and the like are Slurm's own ``SBATCH_PARTITION``,
    ``SBATCH_TIMELIMIT``, ``SBATCH_ACCOUNT`` …; none is set here.
    """

    def __init__(self, stage: Stage, workers: int, folder: Path) -> None:
        super().__init__(
            stage.steps,
            tasks=stage.tasks,
            time="",
            partition="",
            qos="",
            workers=workers,
            job_name=f"zh-corpora-{stage.name}-{_digest(folder)}",
            logging_dir=str(folder.resolve()),
            # The jobs need datatrove's command from this Python environment.
            env_command=f'export PATH="{Path(sys.executable).parent}:$PATH"',
            sbatch_args={"wait": ""},
            requeue=False,
        )
        self.stage, self.folder = stage, folder.resolve()

    def get_sbatch_args(self, max_array: int = 1) -> dict[str, Any]:
        """Return the script's directives, without those that are left to the environment."""
        found: dict[str, Any] = super().get_sbatch_args(max_array)
        return {name: value for name, value in found.items() if value or name == "wait"}

    def launch_merge_stats(self) -> None:
        """Do nothing: the counts of all tasks are added up locally, without a queued job."""

    def run_tasks(self) -> Iterator[int]:
        """Queue the tasks that are not done and wait; yield their numbers when all are.

        Raises:
            ConfigError: If there is no Slurm here.
            DataError: If one failed, or Slurm refused the job.
        """
        if not shutil.which("sbatch"):
            raise ConfigError("--executor slurm needs sbatch on the PATH; run it where Slurm is")
        ranks, code = self.get_incomplete_ranks(), 0
        try:
            if ranks:
                self.launch_job()
        except subprocess.CalledProcessError as error:
            code = error.returncode
        except BaseException:  # on Ctrl-C too: queued jobs must not go on alone
            subprocess.run(["scancel", f"--name={self.job_name}"], check=False)  # noqa: S603, S607
            raise
        yield from _finished(self, ranks, f"sbatch ended with code {code}")


def _finished(runner: RayExecutor | SlurmExecutor, ranks: list[int], otherwise: str) -> list[int]:
    """Return the tasks that were done.

    Raises:
        DataError: If some were not, with the reason of the first, which datatrove leaves in a log.
    """
    left = runner.get_incomplete_ranks()
    if not left:
        return ranks
    log = runner.folder / "logs" / f"task_{left[0]:05d}.log"
    lines = log.read_text("utf-8", errors="replace").splitlines() if log.exists() else []
    reasons = (match[1] for line in reversed(lines) if (match := _FAILED.match(line)))
    raise DataError(
        f"{runner.stage.name}: {len(left)} of {runner.stage.tasks} tasks failed, task {left[0]}: "
        f"{next(reasons, otherwise)} (see {log.parent}; the same command goes on)"
    )


def _digest(folder: Path) -> str:
    return blake2b(os.fsencode(folder.resolve()), digest_size=4).hexdigest()


def _forkserver() -> Any:
    """Return a multiprocessing context that forks workers from a server with imports done.

    The server and its children ignore Ctrl-C, which the job's process handles.
    """
    context = multiprocess.get_context("forkserver")
    context.set_forkserver_preload(["corpora_tools.pipeline"])
    resource_tracker.ensure_running()  # it unblocks what the next line blocks
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    return context


def _end_with_parent() -> None:
    """End this worker when the job's process has ended, killed or not."""
    parent = multiprocess.parent_process()

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
