"""Metrics of classification: pure functions of gold and predicted labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def classification_metrics(gold: Sequence[str], predicted: Sequence[str]) -> dict[str, float]:
    """Return ``accuracy`` and ``macro_f1``, fractions in [0, 1].

    Macro F1 averages over every class that occurs in ``gold`` or ``predicted``; a class that was
    never predicted counts as 0.
    """
    from sklearn.metrics import accuracy_score, f1_score  # noqa: PLC0415  (slow to import; answers need none)

    macro_f1 = f1_score(gold, predicted, average="macro", zero_division=0.0)
    return {"accuracy": float(accuracy_score(gold, predicted)), "macro_f1": float(macro_f1)}


def label_set_metrics(gold: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> dict[str, float]:
    """Return ``micro_f1``, ``macro_f1`` and ``accuracy``, fractions in [0, 1].

    Args:
        gold: True where a text has a label. Shape: (texts, labels).
        predicted: The same for the predictions. A label that occurs in neither counts as 0 in
            ``macro_f1``; ``accuracy`` is the fraction of texts whose labels are all right.
    """
    right, given = (gold & predicted).sum(0), gold.sum(0) + predicted.sum(0)
    return {
        "micro_f1": float(2 * right.sum() / max(given.sum(), 1)),
        "macro_f1": float((2 * right / np.maximum(given, 1)).mean()),
        "accuracy": float((gold == predicted).all(-1).mean()),
    }


def best_threshold(gold: NDArray[np.bool_], probabilities: NDArray[np.floating]) -> float:
    """Return the threshold of the highest micro F1; half-way between two probabilities.

    A label is predicted if its probability is at least the threshold.

    Args:
        gold: True where a text has a label. Shape: (texts, labels).
        probabilities: Probability of each label. Shape: (texts, labels).

    >>> best_threshold(np.array([[True, True, False]]), np.array([[0.75, 0.25, 0.125]]))
    0.1875
    """
    order = np.argsort(-probabilities, axis=None, kind="stable")
    ranked, hits = probabilities.ravel()[order], np.cumsum(gold.ravel()[order])
    # With the k most probable labels predicted, micro F1 is 2 · hits / (k + all).
    f1 = 2 * hits / (np.arange(1, len(ranked) + 1) + gold.sum())
    ends = np.append(ranked[:-1] > ranked[1:], True)  # equal probabilities stay together
    best = int(np.argmax(np.where(ends, f1, -1.0)))
    below = ranked[best + 1] if best + 1 < len(ranked) else 0.0
    return float((ranked[best] + below) / 2)
