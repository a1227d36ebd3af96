"""The interface of a task to the layers above, in one object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from zh_albert.runtimes.exported import RuntimeSettings, with_runtimes
from zh_albert.tasks.job import FineTuningJob
from zh_albert.tasks.model import TaskModel
from zh_albert.tasks.predictor import AnyPredictor
from zh_albert.training.events import Observer
from zh_albert.training.stages import silent, watched


def _nothing_to_check(*_: Any) -> None:
    """Accept everything."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """One task; its functions take the examples that ``read`` returns.

    Attributes:
        read: A task file → examples.
        job: The fine-tuning job: its settings, its model card, and the model that it trains.
        predictor: The predictor of a trained model.
        evaluate: A model and examples → scores.
        check: Refuses examples that the model cannot be scored on; the third argument is their
            source.
        score_baseline: Examples and dev examples → scores of the baseline.
        metric: The main score, one of those of ``evaluate``.
        best_score: Its highest value.
        read_unlabelled: A file of texts for a teacher → what the job takes as ``unlabelled``;
            None: it takes none.
    """

    read: Callable[[Path], list[Any]]
    job: type[FineTuningJob[Any, Any]]
    predictor: Callable[[Any], AnyPredictor]
    evaluate: Callable[[Any, Sequence[Any]], dict[str, Any]]
    check: Callable[[Any, Sequence[Any], Path | str], None] = _nothing_to_check
    score_baseline: Callable[[Sequence[Any], Sequence[Any]], dict[str, Any]]
    metric: str = "accuracy"
    best_score: float = 1.0
    read_unlabelled: Callable[[Path], list[Any]] | None = None

    @property
    def model(self) -> type[TaskModel[Any, Any]]:
        """The model class of the task."""
        return self.job.model_type

    def open(self, folder: Path, **how: Unpack[RuntimeSettings]) -> AnyPredictor:
        """Open a model folder; see ``zh_albert.load`` for its runtimes.

        Raises:
            CheckpointError: If it is not a model folder, or is one for another task.
        """
        return self.predictor(with_runtimes(self.model.load(folder), folder, **how))

    def score(self, folder: Path, file: Path, *, progress: Observer = silent) -> dict[str, Any]:
        """Score a model folder on a task file, with its default runtimes.

        Args:
            folder: Folder of a model for this task.
            file: Labelled examples.
            progress: Progress observer.

        Raises:
            CheckpointError: If the folder cannot be read.
            DataError: If the file cannot be read, or has labels that the model does not know.
        """
        model = self.model.load(folder)
        model.runtimes = watched(model.runtimes, f"tokens of {file.name}", progress)
        examples = self.read(file)
        self.check(model, examples, file)
        return self.evaluate(model, examples)
