"""The honest opponent: TF-IDF over character n-grams with a linear SVM."""

from __future__ import annotations

from collections.abc import Sequence

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC

from zh_albert.tasks.examples import TextExample


def fit_baseline(examples: Sequence[TextExample]) -> Pipeline:
    """Fit character 1- and 2-grams, sublinear TF-IDF, linear SVM with C = 1.

    Nothing is tuned: it is what a user gets from scikit-learn in a minute.
    """
    pipeline = make_pipeline(
        TfidfVectorizer(analyzer="char", ngram_range=(1, 2), sublinear_tf=True),
        LinearSVC(C=1.0, random_state=0),
    )
    weights = [example.weight for example in examples]
    texts, labels = [e.text for e in examples], [e.label for e in examples]
    return pipeline.fit(texts, labels, linearsvc__sample_weight=weights)
