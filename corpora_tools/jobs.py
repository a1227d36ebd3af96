"""Resumable jobs.

A job keeps its state in ``OUT/.job``: its settings, and for each stage datatrove's completions,
counts and logs.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fasteners

from corpora_tools.executors import Executor, Stage, build_executor
from corpora_tools.folders import STATE, STATISTICS
from corpora_tools.statistics import collect_statistics
from zh_albert.errors import DataError
from zh_albert.textio import atomic_write

DATA = "data"  # in a job's folder: what stages hand on, deleted at the end
ANSWERS = ".answers.jsonl"  # what names of files of answers end with
Report = Callable[[str, int, int], None]  # (stage, tasks done, tasks)


def run_stages(
    out: Path,
    state: Path,
    stages: list[Stage],
    executor: Executor,
    workers: int | None,
    report: Report | None,
    collect: Callable[[Path], dict[str, Any]] = collect_statistics,
) -> dict[str, Any]:
    """Run the unfinished tasks, stage by stage; return the statistics of the last stage."""
    for stage in stages:
        tasks = build_executor(executor, stage, workers, state / stage.name)
        done = stage.tasks - len(tasks.get_incomplete_ranks())
        try:
            for _ in tasks.run_tasks():
                done += 1
                if report:
                    report(stage.name, done, stage.tasks)
        except OSError as error:
            if error.filename:
                raise
            raise OSError(error.errno, error.strerror or str(error), str(out)) from error
    statistics = collect(state / stages[-1].name / "stats")
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
    """Lock an output folder for a new or resumed job; yield the folder of its state.

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
        for left_over in (*out.glob(".corpus-*"), *out.rglob(f".*{ANSWERS}.*")):
            left_over.unlink()  # an unfinished file of a killed worker
        yield state
    finally:
        running.release()


def _identity(path: Path) -> list[Any]:
    """Return a file's path, size and time, by which a change is detected."""
    try:
        about = path.stat()
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    return [str(path.resolve()), about.st_size, about.st_mtime_ns]
