"""The baseline of reading: the sentence most similar to the question, by character TF-IDF."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer

from zh_albert.tasks.evaluation import timed_baseline
from zh_albert.tasks.reading.examples import ReadingExample
from zh_albert.tasks.reading.metrics import overlap_f1, reading_metrics
from zh_albert.tasks.reading.threshold import best_no_answer_threshold

_SENTENCE = re.compile(r"[^。！？；!?;\n]+")


def score_baseline(
    examples: Sequence[ReadingExample], dev: Sequence[ReadingExample]
) -> dict[str, Any]:
    """Fit on ``examples`` and return the scores on ``dev``, with both times.

    Weights of character 1- and 2-grams are learned from the contexts; if some examples have no
    answer, so is the similarity threshold for giving none.
    """

    def fit() -> tuple[TfidfVectorizer, float]:
        vectors = TfidfVectorizer(analyzer="char", ngram_range=(1, 2), sublinear_tf=True)
        vectors.fit(sorted({example.context for example in examples}))
        if all(example.references for example in examples):
            return vectors, -1.0
        likely = [most_similar(vectors, example) for example in examples]
        answered = [
            overlap_f1(example.references, sentence)
            for example, (_, sentence) in zip(examples, likely, strict=True)
        ]
        unanswerable = [float(not example.references) for example in examples]
        return vectors, best_no_answer_threshold([s for s, _ in likely], answered, unanswerable)

    def predict(fitted: tuple[TfidfVectorizer, float]) -> list[str]:
        vectors, lowest = fitted
        found = (most_similar(vectors, example) for example in dev)
        return [sentence if similarity >= lowest else "" for similarity, sentence in found]

    references = [example.references for example in dev]
    return timed_baseline(
        examples, dev, fit, predict, lambda found: reading_metrics(references, found)
    )


def most_similar(vectors: TfidfVectorizer, example: ReadingExample) -> tuple[float, str]:
    """Return the context's sentence most similar to the question, and their cosine similarity."""
    sentences = [sentence.strip() for sentence in _SENTENCE.findall(example.context)]
    sentences = [sentence for sentence in sentences if sentence] or [example.context]
    question = vectors.transform([example.question])
    similarities = (vectors.transform(sentences) @ question.T).toarray().ravel()
    best = int(similarities.argmax())
    return float(similarities[best]), sentences[best]
