"""The fine-tuning job: conversion of a task's examples to training instances, batches and a loss.

The subclass of a task implements that. The parts shared by all tasks are here (soft targets of a
teacher, the order of preparation) and in ``run`` (the run folder, the training loop, the best
checkpoint).
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, cast

import torch
from torch import Tensor, nn

from zh_albert.checkpoints.pretrained_encoder import load_encoder
from zh_albert.checkpoints.verified import verified
from zh_albert.distillation.soft_targets import (
    TeacherAnswers,
    TeacherConfig,
    ask_once,
    find_teacher,
    fingerprint,
    refuse_untaught,
)
from zh_albert.errors import ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.runtimes.exported import with_runtime
from zh_albert.runtimes.selection import plain_runtime
from zh_albert.tasks.config import JobConfig, starting_point
from zh_albert.tasks.model import TaskModel
from zh_albert.tasks.texts import HasText, fresh
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.training.batching import SeededBatch, Size, seeded_batches
from zh_albert.training.events import Observer
from zh_albert.training.loop import Batch, LossOutput
from zh_albert.training.resume import seed_torch
from zh_albert.training.run_folder import state_folder
from zh_albert.training.selection import refuse_blind_patience

Example = TypeVar("Example", bound=HasText)
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


def untrained(
    config: JobConfig, init: Path | None, build: Callable[[AlbertConfig, Tokenizer], Model]
) -> Model:
    """Create a model before fine-tuning: a new head on the encoder of ``init``.

    Args:
        config: Settings; ``train.seed`` is the seed of random weights.
        init: See ``starting_point``.
        build: Creates the model with random weights.
    """
    sizes, tokenizer = starting_point(config.model, init)
    seed_torch(config.train.seed, 0, 0)
    model = build(sizes, tokenizer)
    if init is not None:
        load_encoder(model.module, init)
    return model


class FineTuningJob(ABC, Generic[Example, Model]):
    """One fine-tuning run of one task.

    Args:
        examples: Training examples.
        dev: Examples to choose the best checkpoint by ``metric`` and to tune decision parameters;
            if empty, the last weights are kept.
        config: Settings.
        unlabelled: Further training texts for soft targets of a teacher; those that also occur in
            ``examples`` or ``dev`` are left out.
        init: A folder with an encoder to start from; None: random weights.
        start: A model of the task that is trained on as it is, with its head, labels, window and
            n-grams, whatever ``config.model`` says; instead of ``init``.
        out: The model folder to write; ``out/training`` holds the run's own files. None: nothing
            is written.

    Attributes:
        model: The model that is trained and saved.
        trained: The network whose parameters are trained: the model's, or one around it.
        metric_names: The scores that can choose the best checkpoint; by default the first does.
        metric: The one that does.
        teachers: The folders of those who teach.
        fingerprints: Digests of what teaches; a resumed run has the same.
        soft_targets: The answers of each to the training instances; empty: none are learned.
        turn: Which of them is learned from now.
        soft_share: Weight of the soft targets in the loss of each instance. Shape: (instances,).

    Raises:
        ConfigError: If settings do not fit together.
        CheckpointError: If the teacher does not fit this student.
        DataError: If there is nothing to train on, or dev cannot be scored on.
    """

    model_type: ClassVar[type[TaskModel[Any, Any]]]
    config_type: ClassVar[type[JobConfig]]
    metric_names: Sequence[str] = ("accuracy",)
    takes_unlabelled: ClassVar[bool] = False
    """Whether the task can use texts without labels, with a teacher."""

    def __init__(
        self,
        examples: Sequence[Example],
        dev: Sequence[Example],
        config: Any,
        *,
        unlabelled: Sequence[Any] = (),
        init: Path | None = None,
        start: Path | None = None,
        out: Path | None = None,
    ) -> None:
        self.examples, self.dev, self.config = examples, dev, config
        self.init, self.start, self.out = init, start, out
        if config.train.epochs == 0 and (not init or type(self).probe is FineTuningJob.probe):
            raise ConfigError(
                "train.epochs = 0 fits the head alone to a trained encoder: "
                + ("give one to start from (--init)" if not init else "this task cannot; give 1")
            )
        if config.teacher and type(self).questions is FineTuningJob.questions:
            raise ConfigError("teacher.model: this task learns from no teacher; leave it out")
        started: Any = self.model_type.load(start) if start else None
        self.started = started
        self.fingerprints: list[str] = []
        self.check()
        self.metric = self._chosen_metric()
        refuse_blind_patience(config.train, bool(dev))
        refuse_untaught(unlabelled, config.teacher, matched=config.match_only)
        self.unlabelled = fresh(unlabelled, [*self.examples, *dev])
        self.model: Model
        if self.started is None:
            self.model = untrained(config, init, self.build)
        else:
            self.model = started
            self.model.runtime = plain_runtime(self.model.module)
            self.model.metadata.clear()
        self.trained: nn.Module = self.model.module
        self.teachers: list[Path] = []
        self.soft_targets: list[TeacherAnswers] = []
        self.turn = 0
        for name in config.teacher.models if config.teacher else ():
            folder, settings = find_teacher(name, self.model.name)
            self.check_teacher(folder, settings)
            self.teachers.append(folder)
            self.fingerprints.append(fingerprint(folder, self.asked()))

    # ---- implemented by each task ----

    def check(self) -> None:
        """Check the examples and the settings before the model is built.

        Labels are those of ``self.started``, if a model is trained on.
        """

    @abstractmethod
    def build(self, sizes: AlbertConfig, tokenizer: Tokenizer) -> Model:
        """Create the model with random weights."""

    @abstractmethod
    def encode(self, progress: Observer) -> Sequence[Size]:
        """Create the training instances, unlabelled ones last; return their sizes in a batch."""

    @abstractmethod
    def load(self, item: SeededBatch) -> Batch:
        """Collate the instances of a batch; all randomness comes from the batch's seed."""

    @abstractmethod
    def loss(self, network: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
        """Return the loss of a batch, summed over the units that ``Batch.weight`` counts."""

    def plan(self, epoch: int) -> list[SeededBatch]:
        """Return an epoch's batches; with ``load`` the job is the loop's ``BatchSource``."""
        train = self.config.train
        return seeded_batches(self.sizes, train.batch_tokens, seed=train.seed, epoch=epoch)

    def chance_loss(self) -> float | None:
        """Return the mean loss of guessing for ``ChanceWatch``; None: no watch."""
        return None

    def on_update(self, update: int, total: int) -> None:
        """Let the next teacher teach; called on every process before each update."""
        if self.config.teacher and self.config.teacher.turns == "equal":
            self.turn = min(update * len(self.teachers) // max(total, 1), len(self.teachers) - 1)

    @abstractmethod
    def evaluate(self) -> Mapping[str, Any]:
        """Score the model on dev after tuning its decision parameters there."""

    card: Callable[..., str]
    """A model and the TOML of its run → its model card."""

    def fit_ngrams(self, progress: Observer) -> None:
        """Fit the n-gram model of the ensemble, if there is one."""

    def probe(self, progress: Observer) -> None:
        """Fit the head to the frozen encoder (linear-probe initialization), if that helps."""

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

    # ---- shared by all tasks ----

    def _chosen_metric(self) -> str:
        chosen, names = self.config.metric, self.metric_names
        if chosen is None:
            return names[0]
        if not self.dev:
            raise ConfigError(
                f"metric={chosen} chooses the weights by dev examples, and there are none: give "
                "some, or leave it out"
            )
        if chosen not in names:
            raise ConfigError(f"unknown metric {chosen!r}; there are: {', '.join(names)}")
        return str(chosen)

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

    def prepare(self, progress: Observer) -> None:
        """Prepare the training loop: instances, soft targets, n-grams, initial head."""
        self.sizes = self.encode(progress)
        if self.teachers and self.config.teacher.weight:
            self.ask_teachers(progress)
        if self.start is None:
            self.fit_ngrams(progress)
        if self.init is not None:
            self.probe(progress)

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

    def unlabelled_instances(self) -> int:
        """Return the number of instances without labels."""
        return len(self.unlabelled)
