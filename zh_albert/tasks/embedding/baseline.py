"""The baseline of sentence vectors: cosines of TF-IDF vectors over character n-grams."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer

from zh_albert.tasks.correlations import correlations
from zh_albert.tasks.embedding.examples import EmbeddingExample, judged
from zh_albert.tasks.evaluation import timed_baseline


def score_baseline(
    examples: Sequence[EmbeddingExample], dev: Sequence[EmbeddingExample]
) -> dict[str, Any]:
    """Weigh 1- and 2-grams on the training texts; return the correlations on ``dev``.

    Raises:
        DataError: If ``dev`` holds something else than pairs with labels.
    """
    pairs, gold = judged(dev, "the dev examples")

    def fit() -> TfidfVectorizer:
        vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(1, 2), sublinear_tf=True)
        contents = ((e.text,) if isinstance(e.text, str) else e.text for e in examples)
        return vectorizer.fit(chain.from_iterable(contents))

    def cosines(fitted: TfidfVectorizer) -> NDArray[np.float32]:
        first, second = (fitted.transform([pair[side] for pair in pairs]) for side in (0, 1))
        # Rounded, for ranks count any difference: see ``TextEmbedder.cosines``.
        return np.asarray(first.multiply(second).sum(axis=1), np.float32).ravel()

    return timed_baseline(examples, dev, fit, cosines, lambda found: correlations(gold, found))
