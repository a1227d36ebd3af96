"""What the stages of a compression share."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zh_albert.tasks.task import Task
from zh_albert.training.events import Observer


@dataclass(frozen=True, kw_only=True)
class Work:
    """What all stages of a compression share.

    Attributes:
        task: Of the model.
        source: Folder of the model that is compressed; the teacher unless a recipe says another.
        train: Training examples.
        dev: Examples that choose the best weights.
        unlabelled: Further texts for the teacher; stages that augment add to them.
        folder: The stages' folders are in it.
        observers: Called while training.
    """

    task: Task
    source: Path
    train: Sequence[Any]
    dev: Sequence[Any]
    unlabelled: list[Any]
    folder: Path
    observers: Sequence[Observer] = ()

    def of(self, stage: str) -> Path:
        """Return the folder of a stage."""
        return self.folder / stage


def wait_for(file: Path) -> None:
    """Wait until the first process has written what all go on with; it ends, all are ended."""
    while not file.exists():
        time.sleep(0.1)
