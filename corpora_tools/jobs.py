"""Jobs that go on where they stopped, run by datatrove's local executor.

A job keeps its state in ``OUT/.job``: what was asked for, and for each stage datatrove's
completions, counts and logs.
"""

from __future__ import annotations

import io
import json
import shutil
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fasteners
import multiprocess
from datatrove.executor.local import LocalPipelineExecutor
from loguru import logger

from corpora_tools.statistics import collect_statistics
from zh_albert.errors import DataError
from zh_albert.textio import atomic_write

STATISTICS = "statistics.json"
DATA = "data"  # in a job's folder: what stages hand on, deleted at the end
_STATE = ".job"
Report = Callable[[str, int, int], None]  # (stage, tasks done, tasks)


@dataclass(frozen=True)
class Stage:
    """Steps that run in each of a number of tasks, after all tasks of the stage before."""

    name: str
    steps: list[Any]
    tasks: int


class LocalExecutor(LocalPipelineExecutor):
    """datatrove's, silent on the terminal: its messages and tracebacks are in the logs.

    A task holds a shared lock, so that a job whose main process was killed is not started again
    while a worker of it still writes.
    """

    def __init__(self, stage: Stage, workers: int, state: Path) -> None:
        super().__init__(
            stage.steps,
            tasks=stage.tasks,
            workers=min(workers, stage.tasks),
            logging_dir=str(state / stage.name),
        )
        self.lock = state / "writing"

    def _launch_run_for_rank(self, rank: int, *args: Any, **kwargs: Any) -> Any:
        if multiprocess.parent_process() is not None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the main process' business
        lock = fasteners.InterProcessReaderWriterLock(self.lock)
        with redirect_stderr(io.StringIO()), lock.read_lock():
            logger.enable("datatrove")
            try:
                return super()._launch_run_for_rank(rank, *args, **kwargs)
            finally:
                logger.disable("datatrove")


def run_stages(
    out: Path, state: Path, stages: list[Stage], workers: int, report: Report | None
) -> dict[str, Any]:
    """Run what is not done yet, one stage after the other; return the last one's statistics."""
    for stage in stages:
        executor = LocalExecutor(stage, workers, state)
        with _reporting(state / stage.name / "completions", stage, report), _quiet():
            try:
                executor.run()
            except OSError as error:
                if error.filename:
                    raise
                raise OSError(error.errno, error.strerror or str(error), str(out)) from error
    statistics = collect_statistics(state / stages[-1].name / "stats")
    with atomic_write(out / STATISTICS) as file:
        file.write(json.dumps(statistics, ensure_ascii=False, indent=1).encode() + b"\n")
    shutil.rmtree(state / DATA, ignore_errors=True)
    return statistics


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
    state = out / _STATE
    if any(path.resolve().is_relative_to(out.resolve()) for path in inputs):
        raise DataError(f"{out}: expected a folder that does not hold the input")
    if out.exists() and not out.is_dir():
        raise DataError(f"{out}: expected a folder, found a file")
    if out.is_dir() and any(out.iterdir()) and not state.is_dir():
        raise DataError(f"{out}: expected a new or empty folder, found files of something else")
    state.mkdir(parents=True, exist_ok=True)
    running = fasteners.InterProcessLock(state / "running")
    if not running.acquire(blocking=False):
        raise DataError(
            f"{out}: another job is writing there; wait for it or choose another folder"
        )
    try:
        writing = fasteners.InterProcessReaderWriterLock(state / "writing")
        if not writing.acquire_write_lock(blocking=False):
            raise DataError(
                f"{out}: workers of a stopped job are still writing there; wait a moment"
            )
        writing.release_write_lock()
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


@contextmanager
def _reporting(completions: Path, stage: Stage, report: Report | None) -> Iterator[None]:
    """Tell how many tasks are done, twice a second: datatrove leaves a file for each."""
    over = threading.Event()

    def watch() -> None:
        while report is not None:
            ended = over.wait(0.5)
            done = sum(1 for _ in completions.glob("*")) if completions.is_dir() else 0
            report(stage.name, done, stage.tasks)
            if ended:
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep datatrove's messages off the terminal."""
    logger.disable("datatrove")
    try:
        yield
    finally:
        logger.enable("datatrove")
