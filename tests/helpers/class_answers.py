"""Answers of classifiers, made up."""

from __future__ import annotations

from apps.markup.class_card import ClassAnswer
from zh_albert.tasks.classification.predictor import Classification


def class_answer(scores: dict[str, float], model: str = "sentiment") -> ClassAnswer:
    """Return the answer of a model that gives these scores."""
    label = max(scores, key=lambda name: scores[name])
    return ClassAnswer(model, Classification(label, scores[label], scores), 0.0123)
