"""A trained classifier answering: typed results, a stream in constant memory, order kept.

It reads texts or pairs of texts, whichever it was trained on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar, Unpack

from zh_albert.errors import DataError
from zh_albert.prefetch import map_prefetched
from zh_albert.runtimes.exported import RuntimeSettings, with_runtimes
from zh_albert.tasks.chunks import as_list, pools
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.examples import pair_of, text_of
from zh_albert.tasks.classification.heads import LabelSet, Value
from zh_albert.tasks.texts import Content


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
    """What a classifier and its two parts say of one text.

    Multiplied class by class and made to sum to 1, the parts' probabilities are the classifier's.

    Attributes:
        together: The classifier's answer.
        network: The network alone.
        ngrams: The linear model over n-grams alone; None: the classifier has none.
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
        value: In the units of its training labels; may lie outside their range.
    """

    value: float


A = TypeVar("A")


class TextPredictor(ABC, Generic[A]):
    """Texts, or pairs of texts → answers, one each.

    Attributes:
        labels: Names of the classes.
        pairs: Whether it reads pairs of texts.
        metadata: What the model card and ``zh-albert models`` tell: data, scores.
        content_of: A row of a task file → what the model reads of it.
        blank: What a blank line is read as.
    """

    def __init__(self, classifier: TextClassifier) -> None:
        self._classifier = classifier
        self.labels, self.pairs = classifier.labels, classifier.pairs
        self.content_of = pair_of if classifier.pairs else text_of
        self.blank: Content = ("", "") if classifier.pairs else ""
        self.metadata = classifier.metadata

    @abstractmethod
    def _answer(self, scores: Sequence[float]) -> A:
        """Make the answer of the scores of one text, which are in the order of the labels."""

    def __call__(self, texts: str | Iterable[Content]) -> list[A]:
        """Classify texts (pairs of texts, if the model reads these), in order.

        A single string counts as a list of one.

        Raises:
            DataError: If a text is not a string (a pair of strings), or empty (its index is
                named).
        """
        scores = self._classifier.scores(as_list(texts))
        return [self._answer(row) for row in scores.tolist()]

    def stream(self, texts: Iterable[Content]) -> Iterator[A | DataError]:
        """Classify any number of texts in constant memory, in order.

        A text that cannot be classified (empty, only spaces) yields its error in its place, so
        that one bad line does not stop a long file.
        """
        # The next pool is tokenized while the network reads this one.
        for encoded in map_prefetched(self._classifier.encode_or_none, pools(texts)):
            scores = self._classifier.scores_of([e for e in encoded if e is not None])
            rows = iter(scores.tolist())
            for one in encoded:
                if one is None:
                    yield DataError(f"the text {self._classifier.no_content}")
                else:
                    yield self._answer(next(rows))

    def _ranked(self, scores: Sequence[float]) -> dict[str, float]:
        ranked = sorted(zip(self.labels, scores, strict=True), key=lambda pair: -pair[1])
        return {label: round(score, 6) for label, score in ranked}


class Classifier(TextPredictor[Classification]):
    """What ``zh_albert.load`` returns for a model that tells classes apart."""

    def members(self, text: Content) -> EnsembleMembers:
        """Return the answer for one text, and what the network and the n-grams each say.

        Raises:
            DataError: If it is not a string (a pair of strings), or empty.
        """
        encoded = self._classifier.encode([text])
        together, network, ngrams = self._classifier.scores_apart(encoded)
        return EnsembleMembers(
            together=self._answer(together[0].tolist()),
            network=self._answer(network[0].tolist()),
            ngrams=None if ngrams is None else self._answer(ngrams[0].tolist()),
        )

    def _answer(self, scores: Sequence[float]) -> Classification:
        ranked = self._ranked(scores)
        label, score = next(iter(ranked.items()))
        return Classification(label=label, score=score, scores=ranked)


class MultiLabelClassifier(TextPredictor[Labelling]):
    """What ``zh_albert.load`` returns for a model that gives any number of classes."""

    def __init__(self, classifier: TextClassifier, threshold: float) -> None:
        super().__init__(classifier)
        self.threshold = threshold

    def _answer(self, scores: Sequence[float]) -> Labelling:
        ranked, given = self._ranked(scores), dict(zip(self.labels, scores, strict=True))
        return Labelling([name for name in ranked if given[name] >= self.threshold], ranked)


class Regressor(TextPredictor[Estimate]):
    """What ``zh_albert.load`` returns for a regression model.

    Attributes:
        lowest: Of the values it was trained on; None: not told.
        highest: Of the values it was trained on; None: not told.
    """

    def __init__(self, classifier: TextClassifier, head: Value) -> None:
        super().__init__(classifier)
        self.lowest, self.highest = head.lowest, head.highest

    def _answer(self, scores: Sequence[float]) -> Estimate:
        return Estimate(value=round(scores[0], 6))


def open_classifier(
    folder: Path, **how: Unpack[RuntimeSettings]
) -> Classifier | MultiLabelClassifier | Regressor:
    """Open the model folder of a classifier of any kind; see ``zh_albert.load`` for what runs it.

    Raises:
        CheckpointError: If it is none, or a model for something else.
    """
    classifier = with_runtimes(TextClassifier.load(folder), folder, **how)
    match classifier.head:
        case LabelSet(threshold=threshold):
            return MultiLabelClassifier(classifier, threshold)
        case Value() as head:
            return Regressor(classifier, head)
        case _:
            return Classifier(classifier)
