"""Jobs that go on where they stopped, run by datatrove's local executor.

A job keeps its state in ``OUT/.job``: what was asked for, and for each stage datatrove's
completions, counts and logs.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fasteners
import multiprocess
from datatrove.executor.local import LocalPipelineExecutor
from loguru import logger
from multiprocess import forkserver, resource_tracker

from corpora_tools.documents import STATE, STATISTICS
from corpora_tools.statistics import collect_statistics
from zh_albert.errors import DataError
from zh_albert.textio import atomic_write

DATA = "data"  # in a job's folder: what stages hand on, deleted at the end
Report = Callable[[str, int, int], None]  # (stage, tasks done, tasks)


@dataclass(frozen=True)
class Stage:
    """Steps that run in each of a number of tasks, after all tasks of the stage before."""

    name: str
    steps: list[Any]
    tasks: int


class LocalExecutor(LocalPipelineExecutor):
    """datatrove's, with a pool that ends with its job however the job ends.

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
        """Run one task here, on copies of the steps: they count."""
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


def run_stages(
    out: Path, state: Path, stages: list[Stage], workers: int, report: Report | None
) -> dict[str, Any]:
    """Run what is not done yet, one stage after the other; return the last one's statistics."""
    logger.disable("datatrove")
    for stage in stages:
        executor = LocalExecutor(stage, workers, state / stage.name)
        done = stage.tasks - len(executor.get_incomplete_ranks())
        try:
            for _ in executor.run_tasks():
                done += 1
                if report:
                    report(stage.name, done, stage.tasks)
        except OSError as error:
            if error.filename:
                raise
            raise OSError(error.errno, error.strerror or str(error), str(out)) from error
    statistics = collect_statistics(state / stages[-1].name / "stats")
    with atomic_write(out / STATISTICS) as file:
        file.write(json.dumps(statistics, ensure_ascii=False, indent=1).encode() + b"\n")
    shutil.rmtree(state / DATA, ignore_errors=True)
    return statistics


def _forkserver() -> Any:
    """Return the way to start workers: forked from a server that has the imports behind it.

    The server is started deaf to Ctrl-C, and so are its children: that is the job's business.
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


@contextmanager
def job(
    out: Path,
    command: str,
    settings: dict[str, Any],
    inputs: Sequence[Path],
    exclude: Sequence[Path],
) -> Iterator[Path]:
    """Take an output folder for one job, or go on with the same one; yield its state's folder.

    Raises:
        DataError: If another job has the folder, or it holds anything else.
    """
    asked = {"command": command, **settings}
    asked["inputs"] = [_identity(path) for path in inputs]
    asked["exclude"] = [_identity(path) for path in exclude]
    asked = json.loads(json.dumps(asked))
    state = out / STATE
    if any(path.resolve().is_relative_to(out.resolve()) for path in inputs):
        raise DataError(f"{out}: expected a folder that does not hold the input")
    if out.exists() and not out.is_dir():
        raise DataError(f"{out}: expected a folder, found a file")
    if out.is_dir() and any(out.iterdir()) and not state.is_dir():
        raise DataError(f"{out}: expected a new or empty folder, found files of something else")
    state.mkdir(parents=True, exist_ok=True)
    running = fasteners.InterProcessLock(state / "running")
    if not running.acquire(blocking=False):
        running.lockfile.close()
        raise DataError(
            f"{out}: another job is writing there; wait for it or choose another folder"
        )
    try:
        known = state / "job.json"
        if known.exists():
            before = json.loads(known.read_text("utf-8"))
            differ = ", ".join(
                sorted(k for k in asked.keys() | before if asked.get(k) != before.get(k))
            )
            if differ:
                hint = "choose another folder, or delete this one to start anew"
                raise DataError(f"{out}: holds the output of another job ({differ} differ); {hint}")
        with atomic_write(known) as file:
            file.write(json.dumps(asked, ensure_ascii=False, indent=1).encode())
        for left_over in out.glob(".corpus-*"):  # a shard that a killed worker had begun
            left_over.unlink()
        yield state
    finally:
        running.release()


def _identity(path: Path) -> list[Any]:
    """Say which file it is, and notice that it has changed."""
    try:
        about = path.stat()
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    return [str(path.resolve()), about.st_size, about.st_mtime_ns]
