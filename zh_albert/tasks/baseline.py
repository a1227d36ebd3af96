"""The scores of a baseline, with the times it took."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

Fitted = TypeVar("Fitted")


def timed_scores(
    examples: Sequence[Any],
    dev: Sequence[Any],
    fit: Callable[[], Fitted],
    predict: Callable[[Fitted], Any],
    score: Callable[[Any], Mapping[str, Any]],
) -> dict[str, Any]:
    """Fit, predict and score, and return the scores with counts and seconds.

    Args:
        examples: Those that ``fit`` learns from.
        dev: Those that ``predict`` answers.
        fit: Returns the fitted baseline.
        predict: A fitted baseline → predictions.
        score: Predictions → scores.
    """
    start = time.perf_counter()
    fitted = fit()
    trained = time.perf_counter()
    predicted = predict(fitted)
    seconds = time.perf_counter() - trained
    return {
        **score(predicted),
        "examples": len(dev),
        "seconds": round(seconds, 3),
        "train_examples": len(examples),
        "train_seconds": round(trained - start, 1),
    }
