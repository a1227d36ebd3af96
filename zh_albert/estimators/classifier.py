"""Estimator for the classification of texts and pairs of texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Literal, NamedTuple, Self, SupportsFloat

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from zh_albert.errors import DataError
from zh_albert.estimators.fitting import (
    AlbertEstimator,
    as_contents,
    contents_to_learn,
    refuse_missing_labels,
    refuse_no_targets,
)
from zh_albert.tasks.classification.class_contrast import ClassContrastConfig
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.examples import TextExample
from zh_albert.tasks.classification.finetune import ClassificationJob, ModelConfig
from zh_albert.tasks.classification.heads import LabelSet
from zh_albert.tasks.classification.ngram_learning import are_few
from zh_albert.tasks.fields import class_name
from zh_albert.tasks.texts import Content


def _has_several(model: AlbertClassifier) -> bool:
    return isinstance(model._model().head, LabelSet)


class _Way(NamedTuple):
    init: str | None
    epochs: int | Literal["auto"]
    contrast: bool


_CLASSES_OF_CONTRAST = 3  # it helps from here on (docs/experiments/few-texts.md)
_TABLE = "MultiLabelBinarizer().fit_transform(y) makes columns of lists of labels"


@dataclass(eq=False, repr=False, kw_only=True)
class AlbertClassifier(ClassifierMixin, AlbertEstimator):
    """Chinese text classifier with scikit-learn's interface.

    Args:
        init: Encoder to start from: a bundled name, a folder or a hub id; None: random weights;
            ``auto``: ``encoder``, or of few texts ``embedder``, see ``fit``.
        preset: Size of random weights: ``tiny`` (the default), ``small``, ``base``, …
        class_weight: Weights of the classes, times ``sample_weight``: ``balanced`` for
            n / (k · n_c), where a class has n_c of n texts in k classes; or a weight for each
            label, 1 for those left out. The n-gram model of the ensemble has them, too. Not for
            several labels each.
        pooling: Summary of a text: ``first``, the first token's state; ``mean``, the mean of all.
        max_length: Tokens of one window; longer texts are split into overlapping windows.
        stride: Tokens shared by neighbouring windows.
        epochs: Passes over the training texts; ``auto``: 4, or up to 10 if there are few; 0: the
            encoder stays as it is (but for ``contrast``), and only the head is fitted.
        contrast: Draw texts of a class together before the head is fitted (with ``epochs=0``). Not
            for several labels each.
        peak_lr: Peak learning rate.
        batch_tokens: Tokens of one forward pass in training; None: about 20 texts.
        random_state: Seed of weights, order and dropout; None: a new one each time.
        on_event: Called with progress (``zh_albert.training.events``).

    Attributes:
        classes_: The class labels, sorted; as given to ``fit`` (of spellings of one label, "1" and
            "1.0", the first). For a multi-label model the columns of ``y``.
        classifier_: The trained ``TextClassifier``.
        config_: The training settings.

    >>> texts, labels = ["很好", "不错", "太差", "糟糕"], ["good", "good", "bad", "bad"]
    >>> model = AlbertClassifier(init=None, preset="tiny", epochs=1).fit(texts, labels)
    >>> model.predict_proba(["真好"]).shape
    (1, 2)
    """

    init: str | None = field(default="auto", kw_only=False)
    class_weight: Literal["balanced"] | Mapping[Any, float] | None = None
    pooling: Literal["first", "mean"] = "mean"
    epochs: int | Literal["auto"] = "auto"
    contrast: bool = False
    peak_lr: float = 2e-4
    batch_tokens: int | None = None

    _job, _kept_in = ClassificationJob, "classifier_"

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:  # noqa: N803
        """Train on texts ``X`` and their labels ``y`` (strings or integers).

        With ``init`` and ``epochs`` both ``auto``, and at most 32 texts of a class on average with
        one label each, the encoder is not trained: a head is fitted to ``embedder``, after
        ``contrast`` if there are three classes or more (docs/experiments/few-texts.md).

        Args:
            X: Texts. Shape: (texts,) or (texts, 1); with two columns, pairs.
            y: Labels. Shape: (texts,). Or, for a multi-label model, 1 where a text has a label,
                else 0. Shape: (texts, labels), at least two labels.
            sample_weight: Weight of each text in the loss. Shape: (texts,). 0 leaves a text out.

        Raises:
            ConfigError: If ``class_weight`` has another label, or a weight that is not positive.
            DataError: If a text is not a string or is empty, a label is missing, the lengths
                differ, or there is only one class.
        """
        texts = contents_to_learn(X)
        refuse_no_targets(y, "a label for each text")
        refuse_missing_labels(y)
        labels = _table_or_column(y)
        check_classification_targets(labels)
        if labels.ndim == 2 and labels.shape[1] == 1:
            labels = column_or_1d(labels, warn=True)
        several = labels.ndim == 2
        if several and not np.isin(labels, (0, 1)).all():
            odd = labels[~np.isin(labels, (0, 1))][0]
            raise DataError(f"y: expected 0 or 1 in each column, found {odd!r:.50}; {_TABLE}")
        if len(labels) != len(texts):
            raise DataError(f"{len(texts)} texts, but {len(labels)} labels")
        # In the precision of training: weights that are 0 in 32 bits count as 0.
        given = np.ones(len(texts)) if sample_weight is None else sample_weight
        try:
            weights = np.asarray(given, "f4")
        except (TypeError, ValueError):
            raise DataError(
                f"sample_weight: expected {len(texts)} numbers >= 0, found {given!r:.50}"
            ) from None
        if weights.shape != (len(texts),) or not (np.isfinite(weights) & (weights >= 0)).all():
            raise DataError(
                f"sample_weight: expected {len(texts)} numbers >= 0, found shape {weights.shape}, "
                f"smallest {weights.min() if weights.size else 'none'}"
            )
        if not weights.any():
            raise DataError("sample_weight: all weights are zero: there is nothing to learn from")
        examples = [
            TextExample(text, _names(label), float(weight))
            for text, label, weight in zip(texts, labels.tolist(), weights, strict=True)
            if weight > 0
        ]
        batch_tokens = twenty_texts(texts) if self.batch_tokens is None else self.batch_tokens
        model = ModelConfig(preset=self._size(), pooling=self.pooling)
        weights_of_classes = _class_weights(self.class_weight, labels)
        way = self._way(examples)
        config = self._config(
            model,
            batch_tokens,
            epochs=way.epochs,
            class_weights=weights_of_classes,
            contrast=ClassContrastConfig() if way.contrast else None,
        )
        self._learn(examples, config, way.init)
        # Last: a fit that fails leaves the old one usable.
        self.classes_ = np.arange(labels.shape[-1]) if several else _one_spelling_each(labels)
        return self

    def _way(self, examples: Sequence[TextExample]) -> _Way:
        """Return how to learn from these texts."""
        if self.init != "auto":
            return _Way(self.init, self.epochs, self.contrast)
        labels = {example.label for example in examples}
        several = any(isinstance(part, tuple) for one in examples for part in (one.text, one.label))
        trained = several or self.epochs != "auto" or self.pooling != "mean"
        if trained or not are_few(len(examples), len(labels)):
            return _Way("encoder", self.epochs, self.contrast)
        return _Way("embedder", 0, self.contrast or len(labels) >= _CLASSES_OF_CONTRAST)

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float32]:  # noqa: N803
        """Return class probabilities in the order of ``classes_``. Shape: (texts, classes)."""
        texts = as_contents(X)
        classifier: TextClassifier = self._model()
        # The network's classes are strings, sorted as such, without classes of weight 0.
        names = [_names(label) for label in self.classes_.tolist()]
        columns = [names.index(name) for name in classifier.labels]
        result = np.zeros((len(texts), len(names)), dtype=np.float32)
        result[:, columns] = classifier.scores(texts)
        return result

    @available_if(_has_several)
    def decision_function(self, X: ArrayLike) -> NDArray[np.float32]:  # noqa: N803
        """Return ``predict_proba`` of a multi-label model. Shape: (texts, labels).

        scikit-learn's scorers take a column of ``predict_proba`` where there are two classes.
        """
        return self.predict_proba(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        """Return the most probable label of each text. Shape: (texts,).

        For a multi-label model: 1 for each label with a probability of at least one half, else 0.
        Shape: (texts, labels).
        """
        probabilities = self.predict_proba(X)
        if isinstance(head := self._model().head, LabelSet):
            return (probabilities >= head.threshold).astype(int)
        best = probabilities.argmax(-1)
        return np.asarray(self.classes_[best])

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:  # noqa: N803
        """Return the accuracy on texts ``X`` with labels ``y``, however they are spelled.

        Raises:
            DataError: If a label is missing, or a text is no string.
        """
        refuse_no_targets(y, "a label for each text")
        refuse_missing_labels(y)
        several = _has_several(self)
        given, found = _table_or_column(y), self.predict(X)
        if not several:
            if {given.dtype.kind, found.dtype.kind} <= set("biuf"):
                given, found = given * 1, found * 1  # True is 1, as for scikit-learn's own scores
            names = [list(map(_names, labels.ravel().tolist())) for labels in (given, found)]
            return float(accuracy_score(*names, sample_weight=sample_weight))
        return float(accuracy_score(given, found, sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        """Return the tags: samples are strings and may have several labels."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def twenty_texts(texts: Sequence[Content]) -> int:
    """Return the approximate number of tokens of 20 texts, between 256 and 2,048.

    With fewer texts per batch, the loss on long ones does not decrease; with more, there are few
    updates.
    """
    parts = [part for text in texts for part in (text if isinstance(text, tuple) else [text])]
    characters = sum(len(part) for part in parts if isinstance(part, str))
    return min(max(20 * characters // len(texts), 256), 2048)


def _class_weights(given: Any, labels: NDArray[Any]) -> Any:
    """Return the setting of the job, whose classes are strings.

    Args:
        given: The estimator's ``class_weight``.
        labels: Those of the texts: a weight is of the label that equals its own, 0 of False.

    Raises:
        DataError: If it is neither ``balanced`` nor a mapping from labels to numbers.
    """
    if given is None or (isinstance(given, str) and given == "balanced"):
        return given
    if isinstance(given, Mapping) and all(isinstance(w, SupportsFloat) for w in given.values()):
        names = {label: _names(label) for label in labels.ravel().tolist()}
        return {names.get(label, _names(label)): float(w) for label, w in given.items()}
    raise DataError(
        "class_weight: expected None, 'balanced' or a weight for each label such as "
        f"{{'spam': 5.0}}, found {given!r:.50}"
    )


def _table_or_column(y: Any) -> NDArray[Any]:
    if issparse(y):
        return np.asarray(y.toarray())
    try:
        labels = np.asarray(y)
        # pandas' columns of Int64 have no NumPy type of their own.
        numbers = labels.dtype == object and all(isinstance(one, Real) for one in labels.flat)
        return np.array(labels.tolist()) if numbers else labels
    except ValueError:  # rows of different lengths
        problem = "expected a label for each text, or columns, found lists of different lengths"
        raise DataError(f"y: {problem}; {_TABLE}") from None


def _one_spelling_each(labels: NDArray[Any]) -> NDArray[Any]:
    """Return the labels, sorted; of several with the same name the first."""
    every = np.unique(labels)
    _, first = np.unique([_names(label) for label in every.tolist()], return_index=True)
    spelled: NDArray[Any] = every[np.sort(first)]
    return spelled


def _names(label: Any) -> Any:
    """Return the network's class name of a label, or the names of a row's columns."""
    if isinstance(label, list):
        return tuple(str(column) for column, given in enumerate(label) if given)
    return class_name(label)
