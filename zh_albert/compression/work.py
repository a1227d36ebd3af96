"""What the stages of a compression share."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from zh_albert.configio import build
from zh_albert.errors import ConfigError
from zh_albert.tasks.task import Task
from zh_albert.training.events import Observer
from zh_albert.training.loop import is_first_process
from zh_albert.training.resume import refuse_changed
from zh_albert.training.run_folder import open_run, state_folder

_MADE = ("stages", "candidates", "without-ngrams")  # what resumed work goes on with


@dataclass(frozen=True, kw_only=True)
class Work:
    """What all stages of a compression share.

    Attributes:
        task: Of the model.
        source: Folder of the model that is compressed; the teacher unless a recipe says another.
        train: Training examples.
        dev: Examples that choose the best weights.
        folder: The stages' folders are in it.
        unlabelled: Further texts for the teacher; stages that augment add to them.
        observers: Called while training.
    """

    task: Task
    source: Path
    train: Sequence[Any]
    dev: Sequence[Any]
    folder: Path
    unlabelled: list[Any] = field(default_factory=list)
    observers: Sequence[Observer] = ()

    def of(self, stage: str) -> Path:
        """Return the folder of a stage."""
        return self.folder / stage


def open_folder(folder: Path, described: str, *, resume: bool) -> None:
    """Begin or go on with work in a folder, which stays locked; see ``open_run``.

    Args:
        folder: The model folder to be written.
        described: What work that is resumed must not change.
        resume: Go on, if work was begun there.

    Raises:
        ConfigError: If the folder holds something else, or work that was described otherwise.
    """
    kept = state_folder(folder) / "config.toml"
    if kept.is_file():
        before = kept.read_text("utf-8")
        if resume:
            refuse_changed(before, described)
        elif before != described and any((folder / name).exists() for name in _MADE):
            raise ConfigError(
                f"{folder}: holds stages of other work, with another model, recipe, settings or "
                "data; delete it, or choose another folder"
            )
    open_run(folder, described, resume=resume)


def is_made(file: Path) -> bool:
    """Return whether a file that all processes go on with is there.

    All but the first wait until it has written the file; if it ends before, all are ended.
    """
    while not is_first_process() and not file.exists():
        time.sleep(0.1)
    return file.exists()


def card_of(folder: Path) -> str:
    """Return a model folder's card; its name as a title, if it has none."""
    readme = folder / "README.md"
    return readme.read_text("utf-8") if readme.is_file() else f"# {folder.name}\n"


def job_on(task: Task, folder: Path, examples: Sequence[Any]) -> Any:
    """Return a job that trains on a model with the settings that its task has.

    Args:
        task: Of the model.
        folder: The model's; nothing is written.
        examples: To learn from.
    """
    values = {"window": asdict(task.model.load(folder).window)}
    settings = build(task.job.config_type, values, source=str(folder))
    return task.job(examples, [], settings, start=folder)
