"""What a fine-tuning job learns from its teachers: their answers, asked once, and whose turn it is.

The subclass of a task says what a teacher is asked (``questions``) and how it answers
(``teacher_logits``).
"""

from __future__ import annotations

import random
from abc import ABC
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, cast

import torch
from torch import Tensor, nn

from zh_albert.checkpoints.verified import verified
from zh_albert.distillation.soft_targets import (
    TeacherAnswers,
    TeacherConfig,
    ask_once,
    find_teacher,
    fingerprint,
)
from zh_albert.errors import ConfigError
from zh_albert.runtimes.exported import with_runtime
from zh_albert.tasks.model import TaskModel
from zh_albert.training.batching import Size
from zh_albert.training.events import Observer
from zh_albert.training.run_folder import state_folder

Model = TypeVar("Model", bound=TaskModel[Any, Any])

_COMPARED = 256  # texts on which the student is compared with its teachers


class Questions(NamedTuple):
    """The number of a teacher's answers to each training instance, and their sizes."""

    lengths: Sequence[int]
    """Length of each instance, in characters or tokens."""
    width: int
    """Number of logits in an answer."""
    counts: Sequence[int] | None = None
    """Number of answers for each instance; None: one."""


class Taught(ABC, Generic[Model]):
    """The part of a job that its teachers have.

    Attributes:
        teachers: The folders of those who teach.
        fingerprints: Digests of what teaches; a resumed run has the same.
        soft_targets: The answers of each to the training instances; empty: none are learned.
        turn: Which of them is learned from now.
        soft_share: Weight of the soft targets in the loss of each instance. Shape: (instances,).
    """

    model_type: ClassVar[type[TaskModel[Any, Any]]]
    config: Any
    model: Model
    fingerprints: list[str]
    out: Path | None
    examples: Sequence[Any]
    unlabelled: Sequence[Any]
    sizes: Sequence[Size]
    soft_share: Tensor

    def refuse_teachers(self) -> None:
        """Check that a task which has no use for a teacher is given none.

        Raises:
            ConfigError: If it is given one.
        """
        if self.config.teacher and type(self).questions is Taught.questions:
            raise ConfigError("teacher.model: this task learns from no teacher; leave it out")

    def find_teachers(self) -> None:
        """Find the folders of the teachers, and check each of them.

        Raises:
            CheckpointError: If one does not fit this student.
        """
        self.teachers: list[Path] = []
        self.soft_targets: list[TeacherAnswers] = []
        self.turn = 0
        for name in self.config.teacher.models if self.config.teacher else ():
            folder, settings = find_teacher(name, self.model.name)
            self.check_teacher(folder, settings)
            self.teachers.append(folder)
            self.fingerprints.append(fingerprint(folder, self.asked()))

    # ---- implemented by a task that has teachers ----

    def check_teacher(self, folder: Path, settings: Mapping[str, Any]) -> None:
        """Check that a model of this task fits this student as its teacher."""

    def asked(self) -> Sequence[Any]:
        """Return the data that identify the teacher's inputs, ready for JSON."""
        return [example.text for example in [*self.examples, *self.unlabelled]]

    def questions(self) -> Questions:
        """Return the number and the width of the teacher's answers."""
        raise NotImplementedError

    def teacher_logits(self, teacher: Model, instances: list[int]) -> Any:
        """Return a teacher's logits for some instances, concatenated."""
        raise NotImplementedError

    def shaped(self, logits: Tensor, chosen: list[int]) -> Tensor:  # noqa: ARG002
        """Return a teacher's logits for some instances in the shape that the loss expects."""
        return logits

    def unlabelled_instances(self) -> int:
        """Return the number of instances without labels."""
        return len(self.unlabelled)

    # ---- shared by all tasks ----

    def ask_teachers(self, progress: Observer) -> None:
        """Get the soft targets of all instances; see ``ask_once``."""
        for folder, known_as in zip(self.teachers, self.fingerprints, strict=True):
            self.soft_targets.append(self._ask(folder, known_as, progress))
        instances = len(self.sizes)
        labelled = instances - self.unlabelled_instances()
        shares = [self.config.teacher.weight] * labelled + [1.0] * (instances - labelled)
        self.soft_share = torch.tensor(shares)

    def _ask(self, folder: Path, known_as: str, progress: Observer) -> TeacherAnswers:
        opened: list[Any] = []  # opened only if answers are missing

        def ask(some: list[int]) -> Any:
            if not opened:
                with verified(folder):
                    opened.append(with_runtime(self.model_type.load(folder), folder))
            return self.teacher_logits(opened[0], some)

        lengths, width, counts = self.questions()
        return ask_once(
            ask,
            lengths,
            width,
            counts=counts,
            folder=state_folder(self.out) if self.out else None,
            known_as=known_as,
            keep=self.fingerprints,
            progress=progress,
        )

    def on_update(self, update: int, total: int) -> None:
        """Let the next teacher teach; called on every process before each update."""
        if self.config.teacher and self.config.teacher.turns == "equal":
            self.turn = min(update * len(self.teachers) // max(total, 1), len(self.teachers) - 1)

    def take_turn(self, number: int) -> None:
        """Learn from this teacher from now on."""
        self.turn = number

    def soft_inputs(self, chosen: list[int]) -> dict[str, Tensor]:
        """Return the soft targets and their weights for the loss; empty without a teacher."""
        if not self.soft_targets:
            return {}
        return {"soft_targets": self.taught(chosen), "soft_share": self.soft_share[chosen]}

    def taught(self, chosen: list[int]) -> Tensor:
        """Return what is learned now of the teachers' answers to some instances; see ``shaped``."""
        if self.config.teacher.together:
            answers = torch.stack([each.of(chosen) for each in self.soft_targets]).mean(0)
        else:
            answers = self.soft_targets[self.turn].of(chosen)
        return self.shaped(answers, chosen)

    def distances(self) -> list[float]:
        """Return how far the model's answers to some texts are from those of each teacher."""
        instances = range(len(self.sizes))
        some = sorted(random.Random(0).sample(instances, min(_COMPARED, len(instances))))
        module: nn.Module = self.model.module
        training = module.training
        module.eval()
        ours = torch.as_tensor(self.teacher_logits(cast("Any", self.model), some)).float()
        module.train(training)
        teacher: TeacherConfig = self.config.teacher
        return [float(teacher.distance(ours, each.of(some)).mean()) for each in self.soft_targets]
