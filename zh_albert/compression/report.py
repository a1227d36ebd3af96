"""``compress report``: recipes on the same data, measured, compared and written down."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from zh_albert.checkpoints.files import weights_fingerprint
from zh_albert.checkpoints.resolve import resolve_model
from zh_albert.checkpoints.store import load_config
from zh_albert.compression.job import compress
from zh_albert.compression.measures import right_answers, speed_of, without_ngrams
from zh_albert.compression.report_arms import (
    ReportArm,
    ReportTask,
    chosen,
    experiment_arm,
    read_report,
    recipe_of,
    stages_of,
)
from zh_albert.compression.report_files import write_report
from zh_albert.compression.stages import refuse_unknown_settings
from zh_albert.compression.work import Work
from zh_albert.configio import check_at_least
from zh_albert.errors import ConfigError, DataError
from zh_albert.experiments.arms import run_key
from zh_albert.experiments.comparison import Comparison, compare
from zh_albert.experiments.runs import Outcome
from zh_albert.files.textio import atomic_write
from zh_albert.runtimes.selection import choose_runtime
from zh_albert.tasks.catalog import task_of
from zh_albert.tasks.task import Task
from zh_albert.tasks.texts import examples_digest, spread, without
from zh_albert.training.events import Event, Observer
from zh_albert.training.resume import read_run_state
from zh_albert.training.run_folder import state_folder
from zh_albert.training.stages import silent

_VERSION = 1  # of a run and its measures; raise it to have all of them made again
_MAKING = "making"  # folder of the runs that are not finished
_TIMED = 500  # dev texts that speeds are measured on
_NOTED_S = 2.0  # seconds between notes of the CPU time of a run


@dataclass(frozen=True)
class TaskData:
    """What the runs of a task have in common.

    Attributes:
        task: The task.
        source: Folder of the model without n-grams.
        train: Training examples.
        dev: Examples that are scored.
        choose_by: How many of those choose the best weights.
    """

    task: Task
    source: Path
    train: Sequence[Any]
    dev: Sequence[Any]
    choose_by: int

    @cached_property
    def inputs(self) -> str:
        """A digest of the model and the examples."""
        train, dev = map(examples_digest, (self.train, self.dev))
        return f"{weights_fingerprint(self.source)}, {train}, {dev}, {self.choose_by} choose"


def report(
    path: Path,
    out: Path,
    *,
    seeds: int = 3,
    data: Path = Path(),
    tasks: Sequence[str] = (),
    arms: Sequence[str] = (),
    settings: Sequence[str] = (),
    progress: Observer = silent,
) -> dict[str, Comparison]:
    """Run the arms of a report's file and write ``report.md``, ``report.json`` and pictures.

    Runs are kept in ``out``: the same command goes on after a kill, in the middle of a training,
    and computes nothing twice; several processes with the same ``out`` share the work.

    Args:
        path: The TOML file; see ``ReportConfig``.
        out: Folder to write.
        seeds: How many, from 1.
        data: Folder that the paths of task files are relative to.
        tasks: Names of the only ones to run; empty: all.
        arms: Likewise; those they are compared with run, too.
        settings: ``KEY=value``, of all tasks: ``texts=500``.
        progress: Observer of runs, with the time left, and of their trainings.

    Returns:
        The comparison of each task.

    Raises:
        ConfigError: If the file is wrong or a name unknown; before anything is trained.
        DataError: If a task file cannot be read.
        CheckpointError: If there is no such model.
    """
    check_at_least(1, "--seeds", seeds)
    config = read_report(path, settings)
    asked = chosen(config, tasks, arms)
    for task, _ in asked:
        resolve_model(task.model)
        for file in (task.train, task.dev):
            if not (data / file).is_file():
                raise DataError(
                    f"{data / file}: no such file, of task {task.name}; --data is the folder that "
                    "the paths in the report's file are relative to"
                )
    all_data = {task.name: _task_data(task, data, out) for task, _ in asked}
    for task, here in asked:
        _refuse_unknown(task, here, all_data[task.name], out)
    done: dict[str, Comparison] = {}
    sizes = {name: (len(given.train), len(given.dev)) for name, given in all_data.items()}
    for task, here in asked:
        given = all_data[task.name]
        done[task.name] = compare(
            [experiment_arm(arm, task) for arm in here],
            partial(_run, given, out, progress),
            score=given.task.metric,
            seeds=range(1, seeds + 1),
            inputs=given.inputs,
            out=out,
            version=_VERSION,
            progress=progress,
        )
        write_report(config, done, sizes, out)
    return done


def _task_data(task: ReportTask, data: Path, out: Path) -> TaskData:
    folder = resolve_model(task.model)
    face = task_of(folder, load_config(folder)[1])
    dev = face.read(data / task.dev)
    train = without(face.read(data / task.train), dev)
    if task.texts is not None and task.texts < len(train):
        train = random.Random(0).sample(train, task.texts)
    alone = without_ngrams(folder, out / "models" / weights_fingerprint(folder)[:16])
    return TaskData(face, alone, train, dev, task.choose_by)


def _refuse_unknown(
    task: ReportTask, arms: Sequence[ReportArm], given: TaskData, out: Path
) -> None:
    """Check the settings of all trainings before the first one."""
    work = Work(
        task=given.task, source=given.source, train=given.train, dev=given.dev, folder=out / _MAKING
    )
    for arm in arms:
        try:
            refuse_unknown_settings(recipe_of({"stages": stages_of(arm, task)}, 1), work)
        except ConfigError as error:
            raise ConfigError(f"arm {arm.name!r}: {error}") from None


def _run(
    given: TaskData, out: Path, progress: Observer, settings: Mapping[str, Any], seed: int
) -> Outcome:
    """Compress as an arm says, measure what comes out and throw it away."""
    key = run_key(settings, seed, inputs=given.inputs, version=_VERSION)
    making = out / _MAKING / key[:20]
    clock = _CpuClock(making.with_suffix(".seconds"))
    recipe, judges = recipe_of(settings, seed), spread(given.dev, given.choose_by)
    asked = given.source, recipe, given.train, judges
    made = compress(*asked, out=making, resume=True, observers=[clock, progress])
    seconds = clock.stop()
    states = [read_run_state(state_folder(making / "stages" / s.name)) for s in recipe.stages]
    metrics = {
        **{name: made.after[name] for name in ("parameters", "bytes", "macs")},
        "minutes": seconds / 60,
        "updates": sum(state[0].update for state in states if state),
    }
    outcome = _measured(given.task, making, given.dev, metrics)
    shutil.rmtree(making)
    clock.file.unlink(missing_ok=True)
    return outcome


def _measured(
    task: Task, folder: Path, dev: Sequence[Any], metrics: Mapping[str, float]
) -> Outcome:
    model = task.model.load(folder)
    metrics = {**metrics, **speed_of(task, model, spread(dev, _TIMED))}
    model.runtime = choose_runtime(model.module, model.outputs)
    right = right_answers(model, dev) if task.metric == "accuracy" else None
    if right is not None:
        return Outcome({"accuracy": float(right.mean()), **metrics}, right)
    scores = task.evaluate(model, dev)
    return Outcome({task.metric: float(scores[task.metric]), **metrics})


class _CpuClock:
    """CPU time of a run, over all processes that worked on it one after another; an observer."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._before = float(file.read_text("utf-8")) if file.is_file() else 0.0
        self._began = self._noted = time.process_time()

    def __call__(self, _: Event) -> None:
        if time.process_time() - self._noted >= _NOTED_S:
            self.stop()

    def stop(self) -> float:
        """Note the seconds so far, and return them."""
        self._noted = time.process_time()
        seconds = self._before + self._noted - self._began
        with atomic_write(self.file) as file:
            file.write(f"{seconds:.3f}".encode())
        return seconds
