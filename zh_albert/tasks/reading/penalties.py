"""Tuning of what is taken from the log-odds of answers, on questions with answers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from zh_albert.tasks.reading.examples import ReadingExample
from zh_albert.tasks.reading.metrics import exact_match, overlap_f1
from zh_albert.tasks.reading.questions import EncodedQuestion
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.tasks.reading.spans import Penalties, RankedSpan, Reading

_LENGTHS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
_REPEATS = (0.0, 0.5, 1.0, 1.5, 2.0)
_CANDIDATES = 20  # of a question; the right one is further behind in one question of fifteen
_NEGLIGIBLE = 0.002  # of the score, from 0 to 1


def tuned_readings(
    reader: TextReader, questions: Sequence[EncodedQuestion], examples: Sequence[ReadingExample]
) -> list[Reading]:
    """Tune the penalties of a reader and return its best answers; the network runs once.

    Args:
        reader: Its penalties are changed.
        questions: What it reads.
        examples: The same with the right answers; those without an answer tune nothing.
    """
    outputs, reader.penalties = list(reader.outputs_of(questions)), Penalties()
    candidates = reader.read(questions, keep=_CANDIDATES, outputs=outputs)
    reader.penalties = best_penalties([one.best for one in candidates], examples)
    return reader.read(questions, outputs=outputs)


def best_penalties(
    candidates: Sequence[Sequence[RankedSpan]], examples: Sequence[ReadingExample]
) -> Penalties:
    """Return the smallest penalties whose mean of exact match and F1 is within 0.2 points of the
    best.

    Args:
        candidates: The best answers to each question without penalties.
        examples: The questions with the right answers.
    """
    tables = []
    for spans, example in zip(candidates, examples, strict=True):
        if spans and (right := example.references):
            texts = [example.context[one.span.start : one.span.end] for one in spans]
            worth = [(exact_match(right, text) + overlap_f1(right, text)) / 2 for text in texts]
            rows = zip(spans, worth, strict=True)
            tables.append(
                np.array([(s.log_odds, np.log(s.tokens), s.repeated, w) for s, w in rows])
            )
    if not tables:
        return Penalties()

    def score(penalties: Penalties) -> float:
        weights = np.array([1, -penalties.length, -penalties.repeat])
        return float(np.mean([table[(table[:, :3] @ weights).argmax(), 3] for table in tables]))

    tried = [Penalties(*one) for one in itertools.product(_LENGTHS, _REPEATS)]
    scores = {penalties: score(penalties) for penalties in sorted(tried, key=sum)}
    good = max(scores.values()) - _NEGLIGIBLE
    return next(penalties for penalties, found in scores.items() if found >= good)
