"""The baseline of classification: TF-IDF over character n-grams with a linear model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC

from zh_albert.tasks.classification.examples import TextExample
from zh_albert.tasks.classification.head_selection import head_for, refuse_unknown
from zh_albert.tasks.classification.heads import HeadName, LabelHead
from zh_albert.tasks.evaluation import timed_baseline
from zh_albert.tasks.texts import Content

_n_grams = TfidfVectorizer(analyzer="char", ngram_range=(1, 2)).build_analyzer()


def features(content: Content) -> list[str]:
    """Return the character 1- and 2-grams of a text.

    For a pair: those of the second text (in natural language inference the hypothesis, which is
    informative by itself), those that only the second has, and the fraction of each text's n-grams
    that the other has too, in tenths.

    >>> features("不好")
    ['不', '好', '不好']
    """
    if isinstance(content, str):
        grams: list[str] = _n_grams(content)
        return grams
    first, second = map(_n_grams, content)
    new, shared = set(second) - set(first), set(second) & set(first)
    return [
        *(f"second {gram}" for gram in second),
        *(f"new {gram}" for gram in sorted(new)),
        *_tenths("first", len(shared) / max(len(set(first)), 1)),
        *_tenths("second", len(shared) / max(len(set(second)), 1)),
    ]


def _tenths(of: str, share: float) -> list[str]:
    return [f"{tenth} tenths of the {of}" for tenth in range(round(10 * share) + 1)]


def fit_baseline(examples: Sequence[TextExample], head: LabelHead) -> Pipeline:
    """Fit sublinear TF-IDF and a linear SVM; for values ridge regression.

    C is 1, for pairs 0.1; nothing else is tuned.
    """
    svm = LinearSVC(C=0.1 if isinstance(examples[0].text, tuple) else 1.0, random_state=0)
    estimator, last = {
        "classes": (svm, "linearsvc"),
        "multi_label": (OneVsRestClassifier(svm), ""),
        "regression": (Ridge(alpha=1.0), "ridge"),
    }[head.name]
    pipeline = make_pipeline(TfidfVectorizer(analyzer=features, sublinear_tf=True), estimator)
    weights = {f"{last}__sample_weight": [e.weight for e in examples]} if last else {}
    targets = head.targets([example.label for example in examples]).numpy()
    return pipeline.fit([example.text for example in examples], targets, **weights)


def score_baseline(
    examples: Sequence[TextExample], dev: Sequence[TextExample], *, head: HeadName | None = None
) -> dict[str, Any]:
    """Fit on ``examples`` and return the scores on ``dev``, with both times.

    Args:
        examples: Training examples.
        dev: Examples to score on.
        head: See ``head_for``; numbers are taken as values.

    Raises:
        DataError: If there is only one class.
    """
    labels = [example.label for example in examples]
    if head is None and all(isinstance(label, int | float) for label in labels):
        head = "regression"
    made = head_for(labels, head)
    refuse_unknown(made, dev, "the dev examples")
    gold = [example.label for example in dev]
    return timed_baseline(
        examples,
        dev,
        lambda: fit_baseline(examples, made),
        lambda pipeline: _scores(pipeline, [example.text for example in dev], made),
        lambda scores: made.metrics(gold, scores),
    )


def _scores(
    pipeline: Pipeline, contents: Sequence[Content], head: LabelHead
) -> NDArray[np.floating]:
    """Return scores for ``LabelHead.metrics``: margins of classes, 1 or 0 of labels, or values."""
    if head.name == "classes":
        # Not the answers alone: what is neutral may be scored by the best of the other classes.
        margins = np.asarray(pipeline.decision_function(contents))
        return margins if margins.ndim == 2 else np.stack([-margins, margins], -1)
    predicted = pipeline.predict(contents)
    return np.asarray(predicted, np.float32).reshape(len(predicted), len(head.labels))
