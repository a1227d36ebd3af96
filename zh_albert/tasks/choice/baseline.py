"""The honest opponent: the choice that is most like a sentence of the text."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer

from zh_albert.tasks.choice.examples import ChoiceExample, Question

_SENTENCE_END = re.compile(r"(?<=[。！？!?\n])")


def score_baseline(
    examples: Sequence[ChoiceExample], dev: Sequence[ChoiceExample]
) -> dict[str, Any]:
    """Return the accuracy on ``dev`` of TF-IDF over character 1- and 2-grams.

    The weights are those of the training contexts; nothing else is learned.
    """
    start = time.perf_counter()
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(1, 2), sublinear_tf=True)
    vectorizer.fit([example.asked.context for example in examples])
    fitted = time.perf_counter()
    right = sum(_choice(vectorizer, example.asked) == example.label for example in dev)
    return {
        "accuracy": right / len(dev),
        "examples": len(dev),
        "seconds": round(time.perf_counter() - fitted, 3),
        "train_examples": len(examples),
        "train_seconds": round(fitted - start, 1),
    }


def _choice(vectorizer: TfidfVectorizer, asked: Question) -> int:
    sentences = [text for text in _SENTENCE_END.split(asked.context) if text.strip()]
    answers = [asked.question + choice for choice in asked.choices]
    likeness = vectorizer.transform(answers) @ vectorizer.transform(sentences).T
    return int(likeness.max(axis=1).toarray().argmax())
