"""Resumable jobs.

A job keeps its state in ``OUT/.job``: its settings and, for each stage, datatrove's completions,
counts and logs.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from corpora_tools.executors import Executor, PipelineStage, build_executor
from corpora_tools.folders import STATE, STATISTICS, locked
from corpora_tools.statistics import collect_statistics
from zh_albert.errors import DataError
from zh_albert.textio import atomic_write

DATA = "data"  # in a job's state: intermediate files of the stages, deleted at the end
ANSWERS = ".answers.jsonl"  # suffix of files with answers
Report = Callable[[str, int, int], None]  # (stage, tasks done, tasks)


def run_stages(
    out: Path,
    state: Path,
    stages: list[PipelineStage],
    executor: Executor,
    workers: int | None,
    report: Report | None,
    collect: Callable[[Path], dict[str, Any]] = collect_statistics,
) -> dict[str, Any]:
    """Run the unfinished stages one after the other; return the last one's statistics."""
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
    """Start a job in an output folder, or continue it; yield the folder of its state.

    Raises:
        DataError: If the folder holds anything else.
        ConfigError: If another job has the folder.
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
    with locked(state / "running", out):
        known = state / "job.json"
        if known.exists():
            before = json.loads(known.read_text("utf-8"))
            differ = ", ".join(
                sorted(k for k in asked.keys() | before if asked.get(k) != before.get(k))
            )
            if differ:
                hint = "choose another folder, or delete this one to start over"
                raise DataError(f"{out}: holds the output of another job ({differ} differ); {hint}")
        with atomic_write(known) as file:
            file.write(json.dumps(asked, ensure_ascii=False, indent=1).encode())
        for left_over in (*out.glob(".corpus-*"), *out.rglob(f".*{ANSWERS}.*")):
            left_over.unlink()  # from a killed worker
        yield state


def _identity(path: Path) -> list[Any]:
    """Return path, size and time of a file, to detect changes."""
    try:
        about = path.stat()
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    return [str(path.resolve()), about.st_size, about.st_mtime_ns]
