"""Correlations of predicted and gold values."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def correlations(gold: ArrayLike, predicted: ArrayLike) -> dict[str, float]:
    """Return ``spearman`` and ``pearson``, in [-1, 1].

    Both are 0 if all gold or all predicted values are the same.
    """
    from scipy.stats import pearsonr, spearmanr  # noqa: PLC0415  (slow to import; answers need none)

    gold, predicted = np.asarray(gold, float), np.asarray(predicted, float)
    if len(gold) < 2 or np.ptp(gold) == 0 or np.ptp(predicted) == 0:
        return {"spearman": 0.0, "pearson": 0.0}
    spearman, pearson = (test(gold, predicted).statistic for test in (spearmanr, pearsonr))
    return {"spearman": float(spearman), "pearson": float(pearson)}
