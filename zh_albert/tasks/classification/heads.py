"""Heads of the classifier, which map labels to targets and logits to scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor

from zh_albert.errors import DataError
from zh_albert.tasks.classification.metrics import (
    best_threshold,
    classification_metrics,
    label_set_metrics,
)
from zh_albert.tasks.correlations import correlations
from zh_albert.tasks.fields import Label, class_name, is_number, label_name

HeadName = Literal["classes", "multi_label", "regression"]
UNDECIDED = "neutral"
"""The class of texts that belong to none of the others."""


def class_names(label: Label) -> tuple[str, ...]:
    """Return the names of a list of classes, or of one.

    Raises:
        DataError: If it is a number.
    """
    if isinstance(label, int | float):
        raise DataError(f"expected lists of classes, found the number {label}")
    return tuple(map(label_name, (label,) if isinstance(label, str) else label))


def value_of(label: Label) -> float:
    """Return a value on a scale; in a table also numbers are strings.

    Raises:
        DataError: If it is not a finite number.
    """
    value = float(label) if isinstance(label, str) and is_number(label) else label
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise DataError(
            f"expected numbers, found {label!r:.80}; names want a model of classes "
            "(model.head=classes)"
        )
    return float(value)


class LabelHead(Protocol):
    """Interface of a head.

    Attributes:
        name: The head's name in settings and model folders.
        metric_names: Its scores; by default the first chooses the best weights.
        labels: Names of the logits.
    """

    name: ClassVar[HeadName]
    metric_names: ClassVar[Sequence[str]]
    labels: list[str]

    @classmethod
    def for_labels(cls, labels: Sequence[Label]) -> LabelHead:
        """Create the head for these labels.

        Raises:
            DataError: If they are of another kind, or there is only one class or value.
        """

    def names(self, labels: Iterable[Label]) -> set[str]:
        """Return the classes among labels. Raises ``DataError`` for labels of another kind."""

    def targets(self, labels: Sequence[Label]) -> Tensor:
        """Return the targets of ``losses``. Shape: (texts, …)."""

    def losses(self, logits: Tensor, targets: Tensor) -> Tensor:
        """Return each text's loss. Shape: (texts, labels) → (texts,)."""

    def chance_loss(self, targets: Tensor, weights: Tensor) -> float:
        """Return the mean loss of the best constant prediction."""

    def scores(self, logits: Tensor) -> NDArray[np.float32]:
        """Return probabilities, or values. Shape: (texts, labels) → the same."""

    def tune(self, gold: Sequence[Label], scores: NDArray[np.float32]) -> None:
        """Tune the decision parameters on dev examples."""

    def metrics(self, gold: Sequence[Label], scores: NDArray[np.float32]) -> dict[str, float]:
        """Score predictions."""

    def one_sided(self, gold: Sequence[Label], scores: NDArray[np.float32]) -> str:
        """Return a warning if predictions are all the same class; else an empty string."""

    def settings(self) -> dict[str, Any]:
        """Return the settings stored in a model folder besides ``name`` and ``labels``."""


@dataclass
class OneClass:
    """Each text has exactly one class: softmax, cross-entropy. A number is read as its digits."""

    labels: list[str]
    name: ClassVar[HeadName] = "classes"
    metric_names: ClassVar[Sequence[str]] = ("accuracy", "macro_f1")

    @classmethod
    def for_labels(cls, labels: Sequence[Label]) -> OneClass:
        """See ``LabelHead``."""
        names = sorted({class_name(label) for label in labels})
        if len(names) < 2:
            found = f"one class: {names[0]!r}" if names else "none"
            raise DataError(f"expected at least two different labels, found {found}")
        return cls(names)

    def names(self, labels: Iterable[Label]) -> set[str]:
        """See ``LabelHead``."""
        return {class_name(label) for label in labels}

    def targets(self, labels: Sequence[Label]) -> Tensor:
        """Return class numbers. Shape: (texts,)."""
        numbers = {name: number for number, name in enumerate(self.labels)}
        return torch.tensor([numbers[class_name(label)] for label in labels])

    def losses(self, logits: Tensor, targets: Tensor) -> Tensor:
        """Return cross-entropies, in nats. Shape: (texts,)."""
        return F.cross_entropy(logits, targets, reduction="none")

    def chance_loss(self, targets: Tensor, weights: Tensor) -> float:
        """Return the entropy of the class frequencies, in nats."""
        counts = torch.zeros(len(self.labels)).index_add(0, targets, weights)
        return float(torch.special.entr(counts / counts.sum()).sum())

    def scores(self, logits: Tensor) -> NDArray[np.float32]:
        """Return class probabilities; they sum to 1. Shape: (texts, labels)."""
        return np.asarray(logits.softmax(-1))

    def tune(self, gold: Sequence[Label], scores: NDArray[np.float32]) -> None:
        """Do nothing: the answer is the most probable class."""

    def metrics(self, gold: Sequence[Label], scores: NDArray[np.float32]) -> dict[str, float]:
        """See ``classification_metrics``.

        Examples none of which is ``neutral`` come from a data set without that class. They are
        scored by the best of the other classes; ``answered_neutral`` is the share of answers that
        were neutral.
        """
        names = [class_name(label) for label in gold]
        beside: dict[str, float] = {}
        if UNDECIDED in self.labels and UNDECIDED not in names:
            place = self.labels.index(UNDECIDED)
            beside["answered_neutral"] = float((scores.argmax(-1) == place).mean())
        return classification_metrics(names, self.answers(gold, scores)) | beside

    def answers(self, gold: Sequence[Label], scores: NDArray[np.float32]) -> list[str]:
        """Return the answers that are scored; see ``metrics``."""
        names = set(map(class_name, gold))
        judged = [name in names or name != UNDECIDED for name in self.labels]
        return [self.labels[number] for number in np.where(judged, scores, -np.inf).argmax(-1)]

    def one_sided(self, gold: Sequence[Label], scores: NDArray[np.float32]) -> str:
        """See ``LabelHead``."""
        wanted, found = self.names(gold), {self.labels[number] for number in scores.argmax(-1)}
        if len(wanted) < 2 or len(found) > 1:
            return ""
        return (
            f"the answer to each of the {len(gold):,} dev examples is {found.pop()!r}, but they "
            f"have {len(wanted)} classes. Try class_weights=balanced with metric=macro_f1, more "
            "epochs (train.epochs), or more texts of the rare classes"
        )

    def settings(self) -> dict[str, Any]:
        """Return no further settings."""
        return {}


@dataclass
class LabelSet:
    """Each text has any number of classes: a sigmoid each, binary cross-entropy.

    Attributes:
        labels: See ``LabelHead``.
        threshold: A class is predicted if its probability is at least this.
    """

    labels: list[str]
    threshold: float = 0.5
    name: ClassVar[HeadName] = "multi_label"
    metric_names: ClassVar[Sequence[str]] = ("micro_f1", "macro_f1", "accuracy")

    @classmethod
    def for_labels(cls, labels: Sequence[Label]) -> LabelSet:
        """See ``LabelHead``."""
        names = sorted({name for label in labels for name in class_names(label)})
        if not names:
            raise DataError("expected at least one label, found only empty lists")
        return cls(names)

    def names(self, labels: Iterable[Label]) -> set[str]:
        """See ``LabelHead``."""
        return {name for label in labels for name in class_names(label)}

    def targets(self, labels: Sequence[Label]) -> Tensor:
        """Return 1 where a text has a class, else 0. Shape: (texts, labels)."""
        return torch.tensor([[float(n in class_names(one)) for n in self.labels] for one in labels])

    def losses(self, logits: Tensor, targets: Tensor) -> Tensor:
        """Return binary cross-entropies, in nats, averaged over the classes. Shape: (texts,)."""
        return F.binary_cross_entropy_with_logits(logits, targets, reduction="none").mean(-1)

    def chance_loss(self, targets: Tensor, weights: Tensor) -> float:
        """Return the mean entropy of the classes' frequencies, in nats."""
        share = (targets * weights[:, None]).sum(0) / weights.sum()
        return float((torch.special.entr(share) + torch.special.entr(1 - share)).mean())

    def scores(self, logits: Tensor) -> NDArray[np.float32]:
        """Return each class's own probability. Shape: (texts, labels)."""
        return np.asarray(logits.sigmoid())

    def tune(self, gold: Sequence[Label], scores: NDArray[np.float32]) -> None:
        """Choose the threshold of the highest micro F1."""
        self.threshold = best_threshold(self._given(gold), scores)

    def metrics(self, gold: Sequence[Label], scores: NDArray[np.float32]) -> dict[str, float]:
        """See ``label_set_metrics``."""
        return label_set_metrics(self._given(gold), scores >= self.threshold)

    def one_sided(self, gold: Sequence[Label], scores: NDArray[np.float32]) -> str:  # noqa: ARG002
        """Return an empty string: there is not one class each."""
        return ""

    def settings(self) -> dict[str, Any]:
        """Return the threshold."""
        return {"threshold": self.threshold}

    def _given(self, labels: Sequence[Label]) -> NDArray[np.bool_]:
        return self.targets(labels).bool().numpy()


@dataclass
class Value:
    """Each text has a value on a scale: squared error, in units of the training labels' spread.

    Attributes:
        labels: One name, for the one logit.
        mean: Mean of the training labels; a logit of 0 stands for it.
        spread: Standard deviation of the training labels; the unit of the logit.
        lowest: Smallest training label; None: unknown.
        highest: Largest training label; None: unknown.
    """

    mean: float
    spread: float
    labels: list[str]
    lowest: float | None = None
    highest: float | None = None
    name: ClassVar[HeadName] = "regression"
    metric_names: ClassVar[Sequence[str]] = ("spearman", "pearson")

    @classmethod
    def for_labels(cls, labels: Sequence[Label]) -> Value:
        """See ``LabelHead``."""
        values = [value_of(label) for label in labels]
        if not values:
            raise DataError("expected texts to learn from, found none")
        if min(values) == max(values):
            raise DataError("expected at least two different labels, found one value")
        return cls(
            float(np.mean(values)), float(np.std(values)), ["value"], min(values), max(values)
        )

    def names(self, labels: Iterable[Label]) -> set[str]:
        """Return an empty set: any value is valid."""
        for label in labels:
            value_of(label)
        return set()

    def targets(self, labels: Sequence[Label]) -> Tensor:
        """Return the values in the network's units. Shape: (texts,)."""
        values = np.array([value_of(label) for label in labels], np.float64)
        return torch.from_numpy((values - self.mean) / self.spread).float()

    def losses(self, logits: Tensor, targets: Tensor) -> Tensor:
        """Return squared errors; 1 on average if the mean is predicted. Shape: (texts,)."""
        return (logits[:, 0] - targets) ** 2

    def chance_loss(self, targets: Tensor, weights: Tensor) -> float:
        """Return the variance."""
        mean = (targets * weights).sum() / weights.sum()
        return float(((targets - mean) ** 2 * weights).sum() / weights.sum())

    def scores(self, logits: Tensor) -> NDArray[np.float32]:
        """Return values in the units of the labels, unclipped. Shape: (texts, 1)."""
        return np.asarray(logits.double() * self.spread + self.mean)

    def tune(self, gold: Sequence[Label], scores: NDArray[np.float32]) -> None:
        """Do nothing: there is nothing to tune."""

    def metrics(self, gold: Sequence[Label], scores: NDArray[np.float32]) -> dict[str, float]:
        """See ``correlations``."""
        return correlations([value_of(label) for label in gold], scores[:, 0])

    def one_sided(self, gold: Sequence[Label], scores: NDArray[np.float32]) -> str:  # noqa: ARG002
        """Return an empty string: there is not one class each."""
        return ""

    def settings(self) -> dict[str, Any]:
        """Return the scale."""
        scale = {"mean": self.mean, "spread": self.spread}
        return {**scale, "lowest": self.lowest, "highest": self.highest}
