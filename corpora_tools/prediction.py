"""Bulk prediction: a model's answers to many files, as tasks of datatrove."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from datatrove.pipeline.base import PipelineStep

from corpora_tools.executors import Executor, PipelineStage
from corpora_tools.folders import InputFile
from corpora_tools.jobs import ANSWERS, Report, in_known_order, job, run_stages
from corpora_tools.statistics import collect_answers
from zh_albert.checkpoints.resolve import expanded, resolve_model
from zh_albert.files.textio import atomic_write, encode_json

if TYPE_CHECKING:
    from zh_albert.tasks.predictor import AnyPredictor


def predict(
    model: str,
    inputs: Sequence[InputFile],
    out: Path,
    *,
    executor: Executor = "local",
    workers: int | None = 1,
    report: Report | None = None,
) -> dict[str, Any]:
    """Answer every line of every file; return the counts.

    For each input ``NAME`` it writes ``NAME.answers.jsonl`` atomically, with one object per line in
    the order of the input (see ``zh_albert.inference.files``).

    Args:
        model: Bundled name, folder or hub id; on a cluster, accessible to all machines.
        inputs: The files, one task each; see ``inference.files.form_of``.
        out: A folder: new, empty, or that of the same job, which is then continued; only changed
            and added files are answered again.
        executor: Where tasks run; a job can be continued by another executor.
        workers: Files at once; None: one per core, or all on a cluster.
        report: Called whenever a file is finished.

    Returns:
        ``files``, ``rows``, and ``errors``, the rows that could not be answered.

    Raises:
        CheckpointError: If there is no such model.
        DataError: If an input cannot be read, or ``out`` holds something else.
    """
    folder = resolve_model(model).resolve()
    at_once = min(workers or os.cpu_count() or 1, len(inputs))
    threads = max(1, (os.cpu_count() or 1) // at_once) if executor == "local" else 1
    metadata = (folder / "config.json").stat()
    settings = {"model": str(folder), "changed": metadata.st_mtime_ns}
    out = out.absolute()
    tasks = [replace(one, path=one.path.absolute()) for one in in_known_order(out, inputs)]
    with job(out, "predict", settings, [[one] for one in tasks], (), "answers") as state:
        # A bundled model by its name, because other machines may have it elsewhere.
        known = str(folder) if expanded(model).is_dir() else model
        stages = [PipelineStage("answers", [AnswerFile(tasks, known, out, threads)], len(tasks))]
        return run_stages(out, state, stages, executor, workers, report, collect_answers)


class AnswerFile(PipelineStep):
    """The only step: answers a task's file."""

    type = "write"
    name = "answers"

    def __init__(self, tasks: Sequence[InputFile], model: str, out: Path, threads: int) -> None:
        super().__init__()
        self.tasks = tasks
        self.model = model
        self.out = out
        self.threads = threads

    def run(self, data: Any = None, rank: int = 0, world_size: int = 1) -> None:
        """Answer the file, and count rows."""
        from zh_albert.inference.files import (  # noqa: PLC0415  (slow)
            answered_rows,
            file_rows,
            form_for,
        )

        one = self.tasks[rank]
        predictor = _opened(self.model, self.threads)
        rows = file_rows(one.path, form_for(predictor, one.path))
        with atomic_write(self.out / f"{one.name}{ANSWERS}") as file:
            for _, row in answered_rows(predictor, rows, one.path):
                file.write(encode_json(row) + b"\n")
                self.stat_update("rows")
                if "error" in row:
                    self.stat_update("errors")
        self.stat_update("files")


@cache
def _opened(model: str, threads: int) -> AnyPredictor:
    """Open a model once per process, for all files that it answers."""
    import torch  # noqa: PLC0415  (slow to import, and only workers need it)

    from zh_albert.inference.loading import load  # noqa: PLC0415

    torch.set_num_threads(threads)
    return load(model)
