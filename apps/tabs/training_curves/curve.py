"""The record of an encoder's training: ``curve.jsonl`` in its folder."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

from zh_albert.errors import DataError
from zh_albert.tables.objects import read_objects

FILE_NAME = "curve.jsonl"


class CurvePoint(NamedTuple):
    """One evaluation on held-out text.

    Accuracies are from 0 to 1, the loss is in nats a masked token.
    """

    update: float
    tokens: float
    masked_loss: float
    masked_accuracy: float
    order_accuracy: float


def read_curve(folder: Path) -> list[CurvePoint]:
    """Read an encoder's evaluations, in the order of training; none if there is no file.

    Raises:
        DataError: If a line is not what the pretraining job writes (file and line named).
    """
    path = folder / FILE_NAME
    if not path.is_file():
        return []
    points = []
    for number, row in read_objects(path):
        values = [row.get(name) for name in CurvePoint._fields]
        if not all(isinstance(value, int | float) and math.isfinite(value) for value in values):
            expected = ", ".join(CurvePoint._fields)
            raise DataError.at(path, number, f"expected numbers {expected}, found {row!r:.80}")
        points.append(CurvePoint._make(values))
    return sorted(points, key=lambda point: point.tokens)
