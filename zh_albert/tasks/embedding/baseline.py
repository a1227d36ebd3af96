"""The honest opponent: cosines of TF-IDF vectors over character n-grams."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from zh_albert.tasks.correlations import correlations
from zh_albert.tasks.embedding.examples import EmbeddingExample, judged


def score_baseline(
    examples: Sequence[EmbeddingExample], dev: Sequence[EmbeddingExample]
) -> dict[str, Any]:
    """Weigh 1- and 2-grams on the training texts; return the correlations on ``dev``.

    Raises:
        DataError: If ``dev`` holds something else than pairs with labels.
    """
    pairs, gold = judged(dev, "the dev examples")
    start = time.perf_counter()
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(1, 2), sublinear_tf=True)
    contents = ((e.text,) if isinstance(e.text, str) else e.text for e in examples)
    vectorizer.fit(chain.from_iterable(contents))
    fitted = time.perf_counter()
    first, second = (vectorizer.transform([pair[side] for pair in pairs]) for side in (0, 1))
    cosines = np.asarray(first.multiply(second).sum(axis=1)).ravel()
    return {
        **correlations(gold, cosines),
        "examples": len(dev),
        "seconds": round(time.perf_counter() - fitted, 3),
        "train_examples": len(examples),
        "train_seconds": round(fitted - start, 1),
    }
