"""Estimator of sentence vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError

from zh_albert.errors import DataError
from zh_albert.estimators.fitting import (
    AlbertEstimator,
    as_contents,
    as_number,
    as_texts,
    contents_to_learn,
    refuse_missing_labels,
    refuse_no_targets,
)
from zh_albert.tasks.config import NetworkConfig
from zh_albert.tasks.embedding.embedder import TextEmbedder
from zh_albert.tasks.embedding.examples import EmbeddingExample, named_or_number
from zh_albert.tasks.embedding.finetune import ContrastConfig, EmbeddingJob, evaluate, new_embedder
from zh_albert.tasks.embedding.predictor import Embedder
from zh_albert.tasks.texts import Content


@dataclass(eq=False, repr=False, kw_only=True)
class AlbertEmbedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, AlbertEstimator):
    """Chinese sentence vectors with scikit-learn's interface.

    With ``init`` it can encode without training, by the encoder's mean states; ``fit`` improves
    the vectors.

    Args:
        init: Encoder to start from: a bundled name, a folder or a hub id; None: random weights.
        preset: Size of random weights: ``tiny`` (the default), ``small``, ``base``, …
        max_length: Tokens of one window; longer texts are split into overlapping windows.
        stride: Tokens shared by neighbouring windows.
        epochs: Passes over the training texts.
        peak_lr: Peak learning rate.
        batch_tokens: Tokens of one forward pass in training. The texts of a batch are each other's
            negatives, so larger batches are better.
        positive_threshold: Numeric labels from this value on mark pairs of equal meaning.
        random_state: Seed of weights, order and dropout; None: a new one each time.
        on_event: Called with progress (``zh_albert.training.events``).

    Attributes:
        embedder_: The trained ``TextEmbedder``.
        config_: The training settings.

    >>> texts = ["房间很干净", "屋子不脏", "今天下雨"]
    >>> AlbertEmbedder(init=None, preset="tiny", epochs=1).fit(texts).encode(texts).shape
    (3, 312)
    """

    epochs: int = 1
    peak_lr: float = 3e-5
    batch_tokens: int = 4096
    positive_threshold: float = 4.0

    _job, _kept_in = EmbeddingJob, "embedder_"

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:  # noqa: N803
        """Train on texts (unsupervised SimCSE), or on pairs of texts with the same meaning.

        Args:
            X: Texts. Shape: (texts,) or (texts, 1). Or pairs. Shape: (pairs, 2).
            y: For pairs: ``similar`` or ``entailment`` for those with the same meaning; pairs with
                other names are left out; or numbers, see ``positive_threshold``. None: all have the
                same meaning. Ignored for texts.

        Raises:
            DataError: If a text is not a string or is empty; the numbers of labels and pairs
                differ; or no pair has the same meaning.
        """
        config, contents = self._settings(), contents_to_learn(X)
        pairs = y is not None and not all(isinstance(content, str) for content in contents)
        examples = (
            _labelled(contents, y) if pairs else [EmbeddingExample(text) for text in contents]
        )
        self._learn(examples, config)
        return self

    def encode(self, texts: ArrayLike, *, normalize: bool = False) -> NDArray[np.float32]:
        """Return a vector for each text. Shape: (texts, hidden).

        Args:
            texts: Of any length. Shape: (texts,) or (texts, 1).
            normalize: Scale all vectors to length 1, so that dot products are cosines.

        Raises:
            NotFittedError: If it is not fitted and has no ``init``.
            DataError: If a text is not a string or is empty.
        """
        return Embedder(self._opened()).encode(as_texts(texts), normalize=normalize)

    def transform(self, X: ArrayLike) -> NDArray[np.float32]:  # noqa: N803
        """Return ``encode(X)``."""
        return self.encode(X)

    def score(self, X: ArrayLike, y: ArrayLike) -> float:  # noqa: N803
        """Return Spearman's correlation between the pairs' cosine similarities and their labels.

        Args:
            X: Pairs. Shape: (pairs, 2).
            y: Similarity of each pair: numbers, or names as for ``fit``. Shape: (pairs,).

        Raises:
            NotFittedError: If it is not fitted and has no ``init``.
            DataError: If ``X`` has no pairs, or all labels are equal.
        """
        refuse_no_targets(y, "how alike the texts of each pair are")
        examples = _labelled(as_contents(X), y)
        if not examples:
            raise DataError("expected pairs to score, found none")
        return float(evaluate(self._opened(), examples)["spearman"])

    @property
    def _n_features_out(self) -> int:  # what scikit-learn numbers its columns by
        return int(self._opened().module.encoder.config.hidden_size)

    def _opened(self) -> TextEmbedder:
        if hasattr(self, "embedder_"):
            trained: TextEmbedder = self.embedder_
            return trained
        if self.init is None:
            raise NotFittedError("this AlbertEmbedder is not fitted yet; fit it, or name init")
        settings = self.get_params()
        found = getattr(self, "_untrained", None)
        if found is None or found[0] != settings:  # set_params may have changed them
            embedder = new_embedder(self._settings(), init=self._start(self.init))
            found = self._untrained = settings, embedder
        return found[1]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the untrained model, which ``init`` restores."""
        state = super().__getstate__()
        state.pop("_untrained", None)
        return state

    def _settings(self) -> Any:
        model = NetworkConfig(preset=self._size(), dropout=0.1)  # see FinetuneConfig
        threshold = as_number(self.positive_threshold, "positive_threshold")
        contrast = ContrastConfig(positive_threshold=threshold)
        return self._config(model, self.batch_tokens, contrast=contrast)


def _labelled(contents: Sequence[Content], y: Any) -> list[EmbeddingExample]:
    """Return examples of pairs and their labels.

    Raises:
        DataError: If their numbers differ, or a label is neither a number nor a name.
    """
    refuse_missing_labels(y)
    labels = np.asarray(y, dtype=object).ravel().tolist()
    if len(labels) != len(contents):
        raise DataError(f"expected a label for each pair: {len(contents)}, found {len(labels)}")
    examples = []
    for row, (content, label) in enumerate(zip(contents, labels, strict=True)):
        if not isinstance(label, Real | str):
            raise DataError(f"labels[{row}]: expected a number or a name, found {label!r:.80}")
        known = named_or_number(label) if isinstance(label, str) else float(label)
        examples.append(EmbeddingExample(content, known))
    return examples
