"""Resumable jobs.

A job keeps its state in ``OUT/.job``: its settings and inputs and, for each stage, datatrove's
completions, counts and logs.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from corpora_tools.executors import Executor, PipelineStage, build_executor
from corpora_tools.folders import STATE, STATISTICS, InputFile, locked
from corpora_tools.statistics import collect_statistics
from zh_albert.errors import DataError
from zh_albert.files.textio import atomic_write

DATA = "data"  # in a job's state: intermediate files of the stages, deleted at the end
_SPENT = "spent"  # the same while they are being deleted
_JOB = "job.json"  # in a job's state: what was asked for
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
    if (state / DATA).is_dir():  # gone at once, so that none is taken up again half deleted
        (state / DATA).rename(state / _SPENT)
    shutil.rmtree(state / _SPENT, ignore_errors=True)
    return statistics


@contextmanager
def job(
    out: Path,
    command: str,
    settings: dict[str, Any],
    tasks: Sequence[Sequence[InputFile]],
    exclude: Sequence[Path],
    first: str,
) -> Iterator[Path]:
    """Start a job in an output folder, or continue it; yield the folder of its state.

    If inputs were changed or added since, only their tasks of the first stage are done again, and
    all tasks of later stages.

    Args:
        out: The folder.
        command: Name of the command.
        settings: What else determines the output.
        tasks: The inputs of each task of the first stage.
        exclude: Files that all tasks read.
        first: Name of the first stage, and of its folder of intermediate files, if it has one.

    Raises:
        DataError: If the folder holds anything else.
        ConfigError: If another job has the folder.
    """
    asked = {"command": command, **settings}
    asked["tasks"] = [[[one.name, *_identity(one.path)] for one in task] for task in tasks]
    asked["exclude"] = [_identity(path) for path in exclude]
    asked = json.loads(json.dumps(asked))
    state = out / STATE
    inputs = [one.path for task in tasks for one in task]
    if any(path.resolve().is_relative_to(out.resolve()) for path in inputs):
        raise DataError(f"{out}: expected a folder that does not hold the input")
    if out.exists() and not out.is_dir():
        raise DataError(f"{out}: expected a folder, found a file")
    if out.is_dir() and any(out.iterdir()) and not state.is_dir():
        raise DataError(f"{out}: expected a new or empty folder, found files of something else")
    state.mkdir(parents=True, exist_ok=True)
    with locked(state / "running", out):
        shutil.rmtree(state / _SPENT, ignore_errors=True)  # of a job that was killed at its end
        if (before := _known(out)) not in (None, asked):
            if any(state.glob("*/completions/*")):
                _refuse_another_job(out, before, asked)
            _forget_changed(out, before.get("tasks", []), asked["tasks"], first)
        with atomic_write(state / _JOB) as file:
            file.write(json.dumps(asked, ensure_ascii=False, indent=1).encode())
        for left_over in (*out.glob(".corpus-*"), *out.rglob(f".*{ANSWERS}.*")):
            left_over.unlink()  # from a killed worker
        yield state


def in_known_order(out: Path, inputs: Sequence[InputFile]) -> list[InputFile]:
    """Return inputs in the order in which a job that wrote to ``out`` had them, new ones last.

    So an added file does not change the numbers of the other files' tasks.
    """
    tasks = (_known(out) or {}).get("tasks", [])
    order = {path: number for number, path in enumerate(_paths(tasks))}
    return sorted(inputs, key=lambda one: order.get(str(one.path.resolve()), len(order)))


def _known(out: Path) -> Any:
    path = out / STATE / _JOB
    try:
        return json.loads(path.read_text("utf-8")) if path.exists() else None
    except ValueError:
        raise DataError(f"{path}: damaged; delete {out} to start over") from None


def _paths(tasks: Sequence[Sequence[Sequence[Any]]]) -> list[str]:
    return [path for task in tasks for _, path, *_ in task]


def _names(tasks: Sequence[Sequence[Sequence[Any]]]) -> set[str]:
    return {name for task in tasks for name, *_ in task}


def _refuse_another_job(out: Path, before: dict[str, Any], asked: dict[str, Any]) -> None:
    hint = "choose another folder, or delete this one to start over"
    differ = sorted(k for k in asked.keys() | before if asked.get(k) != before.get(k))
    if differ != ["tasks"]:
        names = ", ".join(name for name in differ if name != "tasks")
        raise DataError(f"{out}: holds the output of another job ({names} differ); {hint}")
    if gone := {*_paths(before["tasks"])} - {*_paths(asked["tasks"])}:
        problem = f"holds the output of {min(gone)}, which is not among the inputs now"
        raise DataError(f"{out}: {problem}; {hint}")


def _forget_changed(out: Path, before: list[Any], asked: list[Any], first: str) -> None:
    """Make the tasks whose inputs have changed incomplete again, and all later stages.

    A job that is killed here finds its old list of inputs and does this again.
    """
    state, data = out / STATE, out / STATE / DATA
    (out / STATISTICS).unlink(missing_ok=True)
    later = [path for path in state.iterdir() if path.is_dir() and path.name not in (first, DATA)]
    # After the end of a job of several stages nothing is left that they could start from.
    stale = [*later, state / first] if later and not data.is_dir() else later
    stale += [path for path in data.glob("*") if path.name != first]
    for path in stale:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    pairs = enumerate(zip(before, asked, strict=False))
    same = {rank for rank, (old, new) in pairs if old == new}
    for path in (*state.glob(f"{first}/completions/*"), *state.glob(f"{first}/stats/*.json")):
        if int(path.stem) not in same:
            path.unlink()
    # Files of answers are called as inputs are, with numbers once two of these have one name.
    for name in _names(before) - _names(asked):
        (out / f"{name}{ANSWERS}").unlink(missing_ok=True)
    for path in out.glob("corpus-*.jsonl.*"):
        if int(path.name.split(".")[0].removeprefix("corpus-")) >= len(asked):
            path.unlink()


def _identity(path: Path) -> list[Any]:
    """Return path, size and time of a file, to detect changes."""
    try:
        about = path.stat()
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    return [str(path.resolve()), about.st_size, about.st_mtime_ns]
