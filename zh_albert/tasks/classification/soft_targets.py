"""Learning from a trained classifier: its answers, and how far the network is from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from zh_albert.distillation.losses import divergence
from zh_albert.distillation.soft_targets import Answers, TeacherConfig, ask_once, find_teacher
from zh_albert.errors import CheckpointError
from zh_albert.runtimes.exported import with_runtimes
from zh_albert.tasks.classification.classifier import TASKS, TextClassifier
from zh_albert.tasks.classification.heads import LabelHead, Value, head_from
from zh_albert.tasks.texts import Content
from zh_albert.training.events import Observer


@dataclass(frozen=True)
class Teacher:
    """A trained classifier that a new one learns from.

    Attributes:
        folder: Its model folder.
        head: What its logits mean.
        student: What the new classifier's logits mean.
        config: What its answers count.
    """

    folder: Path
    head: LabelHead
    student: LabelHead
    config: TeacherConfig

    @classmethod
    def find(cls, config: TeacherConfig, student: LabelHead, *, pairs: bool) -> Teacher:
        """Find the teacher and check that it can teach.

        Args:
            config: Names it.
            student: What the new classifier's logits shall mean.
            pairs: Whether the new one reads pairs of texts.

        Raises:
            CheckpointError: If there is no such model, it is for another task, or it tells other
                classes apart.
        """
        folder, metadata = find_teacher(config, TASKS[pairs])
        head = head_from(metadata)
        if (head.name, sorted(head.labels)) != (student.name, sorted(student.labels)):
            raise CheckpointError(
                f"{folder}: expected a teacher of the training data's labels ({_labels(student)}), "
                f"found one of {_labels(head)}; fine-tune it on these data"
            )
        return cls(folder, head, student, config)

    def read(self, logits: Tensor) -> Tensor:
        """Return answers as logits of the new classifier: its order of classes, or its units."""
        if isinstance(self.head, Value) and isinstance(self.student, Value):
            values = logits * self.head.spread + self.head.mean
            return (values - self.student.mean) / self.student.spread
        return logits[:, [self.head.labels.index(label) for label in self.student.labels]]

    def losses(self, logits: Tensor, soft_targets: Tensor) -> Tensor:
        """Return how far each text's logits are from the teacher's. Shape: (texts,).

        That is their ``divergence``, where each class has its own probability the mean of all
        classes'; of values the squared difference.

        Args:
            logits: Of the new classifier. Shape: (texts, labels).
            soft_targets: What ``read`` returned. Shape: (texts, labels).
        """
        temperature = self.config.temperature
        match self.student.name:
            case "regression":
                return ((logits - soft_targets) ** 2)[:, 0]
            case "classes":
                return divergence(logits, soft_targets, temperature)
            case "multi_label":  # yes has the logit, no has 0
                ours, theirs = (F.pad(x[..., None], (0, 1)) for x in (logits, soft_targets))
                return divergence(ours, theirs, temperature).mean(-1)

    def chance_loss(self, soft_targets: Tensor) -> float:
        """Return the mean of ``losses`` for the best answer that does not look at the text."""
        soft = soft_targets / self.config.temperature
        match self.student.name:
            case "regression":
                guess = soft_targets.mean(0)
            case "classes":
                guess = soft.softmax(-1).mean(0).log() * self.config.temperature
            case "multi_label":
                guess = soft.sigmoid().mean(0).logit() * self.config.temperature
        return float(self.losses(guess.expand_as(soft_targets), soft_targets).mean())


@dataclass(frozen=True)
class Lessons:
    """What a teacher says of the training texts.

    Attributes:
        teacher: Who says it.
        answers: One for each text: those with labels first, then those without.
        shares: Their part in a text's loss: the teacher's weight, 1 where there is no label.
            Shape: (texts,).
    """

    teacher: Teacher
    answers: Answers
    shares: Tensor

    @classmethod
    def ask(
        cls,
        teacher: Teacher,
        labelled: Sequence[Content],
        unlabelled: Sequence[Content],
        *,
        known_as: str,
        folder: Path | None,
        progress: Observer,
    ) -> Lessons:
        """Ask the teacher, unless it was asked before; see ``teaching.ask_once``."""
        opened: list[TextClassifier] = []  # not before there is something left to ask

        contents = [*labelled, *unlabelled]

        def ask(texts: list[int]) -> Tensor:
            if not opened:
                model = TextClassifier.load(teacher.folder)
                opened.append(with_runtimes(model, teacher.folder))
            return opened[0].logits_of(opened[0].encode([contents[text] for text in texts]))

        answers = ask_once(
            ask,
            [len("".join(content)) for content in contents],
            len(teacher.head.labels),
            folder=folder,
            known_as=known_as,
            progress=progress,
        )
        shares = [teacher.config.weight] * len(labelled) + [1.0] * len(unlabelled)
        return cls(teacher, answers, torch.tensor(shares))

    def inputs(self, item: list[int]) -> dict[str, Tensor]:
        """Return what the loss needs of these texts."""
        return {
            "soft_targets": self.teacher.read(self.answers.of(item)),
            "soft_share": self.shares[item],
        }

    def chance_loss(self, of_labels: float) -> float:
        """Return the mean loss of guessing, from that of the labels' own loss."""
        some = range(0, len(self.shares), -(-len(self.shares) // 10_000))
        of_answers = self.teacher.chance_loss(self.teacher.read(self.answers.of(some)))
        share = float(self.shares.mean())
        return share * of_answers + (1 - share) * of_labels


def _labels(head: LabelHead) -> str:
    if head.name == "regression":
        return "values"
    return f"{head.name}: {', '.join(head.labels)}"
