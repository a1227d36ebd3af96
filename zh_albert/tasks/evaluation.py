"""Timed evaluation of models and of baselines."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

Fitted = TypeVar("Fitted")
Predicted = TypeVar("Predicted")


def timed(
    examples: Sequence[Any],
    predict: Callable[[], Predicted],
    score: Callable[[Predicted], Mapping[str, Any]],
) -> dict[str, Any]:
    """Predict and score; return the scores, ``examples`` and ``seconds`` (of prediction)."""
    start = time.perf_counter()
    predicted = predict()
    seconds = time.perf_counter() - start
    return {**score(predicted), "examples": len(examples), "seconds": round(seconds, 3)}


def noted(warning: str) -> dict[str, str]:
    """Return an entry of scores with a warning of answers that are all alike, if there is one."""
    return {"one_sided": warning} if warning else {}


def timed_baseline(
    examples: Sequence[Any],
    dev: Sequence[Any],
    fit: Callable[[], Fitted],
    predict: Callable[[Fitted], Predicted],
    score: Callable[[Predicted], Mapping[str, Any]],
) -> dict[str, Any]:
    """Fit, predict and score; return the scores with counts and both times.

    Args:
        examples: Training examples of ``fit``.
        dev: Examples that ``predict`` answers.
        fit: Returns the fitted baseline.
        predict: A fitted baseline → predictions.
        score: Predictions → scores.
    """
    start = time.perf_counter()
    fitted = fit()
    seconds = time.perf_counter() - start
    return {
        **timed(dev, lambda: predict(fitted), score),
        "train_examples": len(examples),
        "train_seconds": round(seconds, 1),
    }
