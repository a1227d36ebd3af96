"""The tasks by name; the module of a task is imported when it is first used."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zh_albert.errors import CheckpointError

if TYPE_CHECKING:
    from torch import nn

    from zh_albert.checkpoints.stored_model import StoredModel
    from zh_albert.tasks.task import Task

# Name: the module of its ``TASK``, and the form of a line of its files.
_CATALOG = {
    "classification": ("classification.task", '{"text", "label"}, the label a class or a list'),
    "pair": ("classification.pair_task", '{"text_a", "text_b", "label"}'),
    "choice": ("choice.task", '{"context", "question", "choices", "label"}'),
    "embedding": ("embedding.task", '{"text"} or pairs; the dev file pairs with labels'),
    "ner": ("ner.task", '{"text", "entities": [{"start", "end", "type"}]}'),
    "reading": ("reading.task", '{"context", "question", "answers": [{"text", "start"}]}'),
    "segmentation": ("segmentation.task", '{"text", "words"}'),
}


class _Tasks(Mapping[str, "Task"]):
    """A mapping from a name to its ``Task``."""

    def __getitem__(self, name: str) -> Task:
        module, _ = _CATALOG[name]
        task: Task = importlib.import_module(f"zh_albert.tasks.{module}").TASK
        return task

    def __iter__(self) -> Iterator[str]:
        return iter(_CATALOG)

    def __len__(self) -> int:
        return len(_CATALOG)


TASKS: Mapping[str, Task] = _Tasks()


def forms() -> str:
    """Return the form of a line of each task's files."""
    return "; ".join(f"{name}: {form}" for name, (_, form) in _CATALOG.items())


def task_of(folder: Path, settings: Mapping[str, Any]) -> Task:
    """Return the task of a model folder.

    Args:
        folder: Named in the error.
        settings: The task's part of ``config.json``; see ``checkpoints.store.load_config``.

    Raises:
        CheckpointError: If it is not a model for one of the tasks.
    """
    name = str(settings.get("name", "no task (an encoder)"))
    if name not in TASKS:
        raise CheckpointError(
            f"{folder}: expected a model for {' or '.join(TASKS)}, found one for "
            f"{name}; fine-tune it first: zh-albert finetune --init …"
        )
    return TASKS[name]


def network_of(stored: StoredModel) -> nn.Module:
    """Build the untrained network that stored tensors belong to: a task's, or an encoder."""
    from zh_albert.checkpoints.stored_model import encoder_network  # noqa: PLC0415  (loads PyTorch)

    name = str(stored.task.get("name"))
    if name not in TASKS:
        return encoder_network(stored)
    try:
        return TASKS[name].model.network(stored.config, stored.task)
    except CheckpointError as error:
        raise CheckpointError(f"{stored.source}: {error}") from None
