"""The interface of a task to the layers above, in one object."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Unpack

from zh_albert.checkpoints.verified import verified
from zh_albert.runtimes.exported import RuntimeSettings, with_runtime
from zh_albert.tables.columns import BY_NAMES, TableLayout
from zh_albert.tasks.model import TaskModel
from zh_albert.tasks.predictor import AnyPredictor
from zh_albert.training.events import Observer
from zh_albert.training.stages import silent, watched

if TYPE_CHECKING:
    from zh_albert.tasks.job import FineTuningJob  # which loads accelerate


def _nothing_to_check(*_: Any) -> None:
    """Accept everything."""


def _no_remarks(_: Sequence[Any]) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Task:
    """One task; its functions take the examples that ``read`` returns.

    Attributes:
        package: The dotted name of the task's package. Its modules ``finetune`` (``JOB``,
            ``evaluate``) and ``baseline`` (``score_baseline``) are imported on first use, because
            prediction needs neither.
        read: A task file → examples; a table's layout may be given besides.
        model: The model class: tokenizer, network, its ONNX graph, and its folder.
        predictor: The predictor of a trained model.
        check: ``check(model, examples, source)`` raises ``DataError`` if the model cannot be scored
            on the examples, such as for unknown labels; the error names ``source``.
        remarks: Training examples → lines about them that are told before training.
        metric: The main score, one of those of ``evaluate``.
        best_score: Its highest value.
        read_unlabelled: A file of texts for a teacher → what the job takes as ``unlabelled``;
            None: it takes none.
    """

    package: str
    read: Callable[..., list[Any]]
    model: type[TaskModel[Any, Any]]
    predictor: Callable[[Any], AnyPredictor]
    check: Callable[[Any, Sequence[Any], Path | str], None] = _nothing_to_check
    remarks: Callable[[Sequence[Any]], Iterable[str]] = _no_remarks
    metric: str = "accuracy"
    best_score: float = 1.0
    read_unlabelled: Callable[..., list[Any]] | None = None

    @property
    def job(self) -> type[FineTuningJob[Any, Any]]:
        """The fine-tuning job: its settings, its model card, batches and loss."""
        job: type[FineTuningJob[Any, Any]] = self._module("finetune").JOB
        return job

    def evaluate(self, model: Any, examples: Sequence[Any]) -> dict[str, Any]:
        """Return a model's scores on examples, ``examples`` and ``seconds``."""
        scores: dict[str, Any] = self._module("finetune").evaluate(model, examples)
        return scores

    def score_baseline(self, examples: Sequence[Any], dev: Sequence[Any]) -> dict[str, Any]:
        """Return the scores of the task's baseline, fitted on ``examples``, on ``dev``."""
        scores: dict[str, Any] = self._module("baseline").score_baseline(examples, dev)
        return scores

    def _module(self, name: str) -> ModuleType:
        return importlib.import_module(f"{self.package}.{name}")

    def open(self, folder: Path, **how: Unpack[RuntimeSettings]) -> AnyPredictor:
        """Open a model folder; see ``zh_albert.load`` for its runtime.

        Raises:
            CheckpointError: If it is not a model folder, or is one for another task.
        """
        with verified(folder):
            return self.predictor(with_runtime(self.model.load(folder), folder, **how))

    def score(
        self,
        folder: Path,
        file: Path,
        *,
        layout: TableLayout = BY_NAMES,
        progress: Observer = silent,
    ) -> dict[str, Any]:
        """Score a model folder on a task file, with its default runtime.

        Args:
            folder: Folder of a model for this task.
            file: Labelled examples.
            layout: Of a file that is a table.
            progress: Progress observer.

        Raises:
            CheckpointError: If the folder cannot be read.
            DataError: If the file cannot be read, or has labels that the model does not know.
        """
        with verified(folder):
            model = self.model.load(folder)
            model.runtime.open()  # opens an export's network while it is the checked one
        model.runtime = watched(model.runtime, f"tokens of {file.name}", progress)
        examples = self.read(file, layout)
        self.check(model, examples, file)
        return self.evaluate(model, examples)
