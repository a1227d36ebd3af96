"""Predictors of a classifier: a class, a set of classes, or a value for each text or pair."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel

from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.differences.comparison import compare
from zh_albert.tasks.classification.differences.difference import Difference
from zh_albert.tasks.classification.examples import marked_text_of, pair_of
from zh_albert.tasks.classification.heads import LabelSet, Value
from zh_albert.tasks.predictor import RequestForm, TaskPredictor, Text
from zh_albert.tasks.texts import Content
from zh_albert.tasks.windows import EncodedText


@dataclass(frozen=True, slots=True)
class Classification:
    """The answer for one text.

    Attributes:
        label: The most probable class.
        score: Its probability.
        scores: Every class's probability, most probable first; they sum to 1.
    """

    label: str
    score: float
    scores: dict[str, float]


@dataclass(frozen=True, slots=True)
class EnsembleMembers:
    """The answers of a classifier and of its ensemble members for one text.

    The classifier's probabilities are the normalized product of the members' probabilities.

    Attributes:
        together: The classifier's answer.
        network: The network's answer.
        ngrams: The n-gram model's answer; None: the classifier has none.
    """

    together: Classification
    network: Classification
    ngrams: Classification | None


@dataclass(frozen=True, slots=True)
class Labelling:
    """The answer of a multi-label model for one text.

    Attributes:
        labels: The classes whose probability reaches the model's threshold, most probable first.
        scores: Every class's own probability, most probable first.
    """

    labels: list[str]
    scores: dict[str, float]


@dataclass(frozen=True, slots=True)
class Estimate:
    """The answer of a regression model for one text.

    Attributes:
        value: The value, in the units of the training labels; may lie outside their range.
    """

    value: float


class PairItem(BaseModel):
    """Two texts to compare, in a request."""

    text_a: Text
    text_b: Text

    def content(self) -> tuple[str, str]:
        """Return the model's input."""
        return self.text_a, self.text_b


A = TypeVar("A")


class LabelPredictor(TaskPredictor[Content, EncodedText, A]):
    """Predictor: texts, or pairs of texts → one answer each.

    Attributes:
        labels: Names of the classes.
        pairs: Whether it reads pairs of texts.
    """

    _model: TextClassifier

    def __init__(self, classifier: TextClassifier) -> None:
        super().__init__(classifier)
        self.labels, self.pairs = classifier.labels, classifier.pairs
        if self.pairs:
            self.noun = "pair"
            example = {"text_a": "怎么退货", "text_b": "如何办理退货"}
            self.form = RequestForm("Pairs", PairItem, example, ("", ""))

    @abstractmethod
    def _answer(self, scores: Sequence[float]) -> A:
        """Return the answer for one text from its scores, which are in the order of the labels."""

    def answers(self, contents: Sequence[Content], encoded: Sequence[EncodedText]) -> list[A]:  # noqa: ARG002
        """See ``Predictor``."""
        return [self._answer(row) for row in self._model.scores_of(encoded).tolist()]

    def differences(self, one: str, other: str) -> list[Difference]:
        """Return the differences of two texts that look alike, if they changed the answer; often
        there are none, and most models do not look for any.
        """
        if not self._model.looks_for_differences:
            return []
        found = compare(one, other)
        return found.differences if found.surely else []

    def content_of(self, row: dict[str, Any], source: Path | str, line: int) -> Content:
        """See ``Predictor``."""
        return (pair_of if self.pairs else marked_text_of)(row, source, line)

    def _ranked(self, scores: Sequence[float]) -> dict[str, float]:
        ranked = sorted(zip(self.labels, scores, strict=True), key=lambda pair: -pair[1])
        return {label: round(score, 6) for label, score in ranked}


class Classifier(LabelPredictor[Classification]):
    """Predictor of one class for each text."""

    kind = "classifier"
    unanswered: ClassVar[Mapping[str, Any]] = {"label": None, "score": None, "scores": {}}
    row_type = Classification

    def members(self, text: Content) -> EnsembleMembers:
        """Return the answers of the ensemble and of its members for one text.

        Raises:
            DataError: If it is not a string (a pair of strings), or empty.
        """
        together, network, ngrams = self._model.member_scores(self._model.encode([text]))
        return EnsembleMembers(
            together=self._answer(together[0].tolist()),
            network=self._answer(network[0].tolist()),
            ngrams=None if ngrams is None else self._answer(ngrams[0].tolist()),
        )

    def _answer(self, scores: Sequence[float]) -> Classification:
        ranked = self._ranked(scores)
        label, score = next(iter(ranked.items()))
        return Classification(label=label, score=score, scores=ranked)


class MultiLabelClassifier(LabelPredictor[Labelling]):
    """Predictor of any number of classes for each text."""

    kind = "multi-label classifier"
    unanswered: ClassVar[Mapping[str, Any]] = {"labels": [], "scores": {}}
    row_type = Labelling

    def __init__(self, classifier: TextClassifier, threshold: float) -> None:
        super().__init__(classifier)
        self.threshold = threshold

    def _answer(self, scores: Sequence[float]) -> Labelling:
        ranked, given = self._ranked(scores), dict(zip(self.labels, scores, strict=True))
        return Labelling([name for name in ranked if given[name] >= self.threshold], ranked)


class Regressor(LabelPredictor[Estimate]):
    """Predictor of values on a scale.

    Attributes:
        lowest: Smallest value in training; None: unknown.
        highest: Largest value in training; None: unknown.
    """

    kind = "regressor"
    unanswered: ClassVar[Mapping[str, Any]] = {"value": None}
    row_type = Estimate

    def __init__(self, classifier: TextClassifier, head: Value) -> None:
        super().__init__(classifier)
        self.lowest, self.highest = head.lowest, head.highest

    def _answer(self, scores: Sequence[float]) -> Estimate:
        return Estimate(value=round(scores[0], 6))


def predictor_of(classifier: TextClassifier) -> Classifier | MultiLabelClassifier | Regressor:
    """Return the predictor for a trained classifier, by its head."""
    match classifier.head:
        case LabelSet(threshold=threshold):
            return MultiLabelClassifier(classifier, threshold)
        case Value() as head:
            return Regressor(classifier, head)
        case _:
            return Classifier(classifier)
