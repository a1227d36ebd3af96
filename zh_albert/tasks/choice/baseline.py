"""The baseline of multiple choice: the choice most similar to a sentence of the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer

from zh_albert.tasks.choice.examples import ChoiceExample, Question, accuracy
from zh_albert.tasks.evaluation import timed_baseline

_SENTENCE_END = re.compile(r"(?<=[。！？!?\n])")


def score_baseline(
    examples: Sequence[ChoiceExample], dev: Sequence[ChoiceExample]
) -> dict[str, Any]:
    """Return the accuracy on ``dev`` of TF-IDF over character 1- and 2-grams, with both times.

    The weights are those of the training contexts; nothing else is learned.
    """

    def fit() -> TfidfVectorizer:
        vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(1, 2), sublinear_tf=True)
        return vectorizer.fit([example.asked.context for example in examples])

    asked = [example.asked for example in dev]
    return timed_baseline(
        examples, dev, fit, lambda fitted: _choices(fitted, asked), partial(accuracy, dev)
    )


def _choices(vectorizer: TfidfVectorizer, questions: Sequence[Question]) -> list[int]:
    sentences = [[s for s in _SENTENCE_END.split(q.context) if s.strip()] for q in questions]
    answers = [
        [question.question + choice for choice in question.choices] for question in questions
    ]
    rows, columns = (vectorizer.transform(chain(*texts)) for texts in (answers, sentences))
    chosen, row, column = [], 0, 0
    for these, there in zip(answers, sentences, strict=True):
        similarities = rows[row : row + len(these)] @ columns[column : column + len(there)].T
        chosen.append(int(similarities.toarray().max(axis=1).argmax()))
        row, column = row + len(these), column + len(there)
    return chosen
