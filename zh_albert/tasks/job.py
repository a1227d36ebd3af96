"""The fine-tuning job: conversion of a task's examples to training instances, batches and a loss.

The subclass of a task implements that. The parts shared by all tasks are here (the order of
preparation), in ``taught`` (what teachers answer) and in ``run`` (the run folder, the training
loop, the best checkpoint).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import torch
from torch import Tensor, nn

from zh_albert.checkpoints.pretrained_encoder import load_encoder
from zh_albert.distillation.soft_targets import refuse_untaught
from zh_albert.errors import ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.runtimes.selection import plain_runtime
from zh_albert.tasks.config import JobConfig, starting_point
from zh_albert.tasks.model import TaskModel
from zh_albert.tasks.taught import Taught
from zh_albert.tasks.texts import HasText, fresh
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.training.batching import SeededBatch, Size, seeded_batches
from zh_albert.training.events import Observer
from zh_albert.training.loop import Batch, LossOutput
from zh_albert.training.resume import seed_torch
from zh_albert.training.selection import refuse_blind_patience

Example = TypeVar("Example", bound=HasText)
Model = TypeVar("Model", bound=TaskModel[Any, Any])


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
    with torch.random.fork_rng(devices=[]):
        seed_torch(config.train.seed, 0, 0)
        model = build(sizes, tokenizer)
    if init is not None:
        load_encoder(model.module, init)
    return model


class FineTuningJob(Taught[Model], Generic[Example, Model]):
    """One fine-tuning run of one task; its teachers: ``Taught``.

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
        started: The model of ``start`` as it was loaded, or None.
        unlabelled: Those that are learned from.
        sizes: Of each training instance in a batch; from ``prepare`` on.

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
                + ("give one, as --init or tune.init" if not init else "this task cannot; give 1")
            )
        self.refuse_teachers()
        self.fingerprints = []
        started: Any = self.model_type.load(start) if start else None
        self.started = started
        # What follows depends on what the task settles: the metric, fresh texts, the model.
        self.settle()
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
        self.find_teachers()

    # ---- implemented by each task ----

    def settle(self) -> None:
        """Check examples and settings, and settle what follows from them: labels, metrics, head.

        It comes before the model is built. Labels are those of ``self.started``, if a model is
        trained on.
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

    @abstractmethod
    def evaluate(self) -> Mapping[str, Any]:
        """Score the model on dev after tuning its decision parameters there."""

    card: Callable[..., str]
    """A model and the TOML of its run → its model card."""

    def fit_ngrams(self, progress: Observer) -> None:
        """Fit the n-gram model of the ensemble, if there is one."""

    def probe(self, progress: Observer) -> None:
        """Fit the head to the frozen encoder (linear-probe initialization), if that helps."""

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

    def prepare(self, progress: Observer) -> None:
        """Prepare the training loop: instances, soft targets, n-grams, initial head."""
        self.sizes = self.encode(progress)
        if self.teachers and self.config.teacher.weight:
            self.ask_teachers(progress)
        if self.start is None:
            self.fit_ngrams(progress)
        if self.init is not None:
            self.probe(progress)
