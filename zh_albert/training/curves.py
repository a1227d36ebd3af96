"""Training curves, read from the metrics files of runs and averaged; no torch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zh_albert.errors import ConfigError, DataError, nearest
from zh_albert.files.textio import parse_object, read_lines

_EVENTS = "training/metrics.jsonl"  # all events of a run
_CURVE = "curve.jsonl"  # kept beside a trained encoder: its evaluations only
_NOT_SCORES = {"seconds", "examples", "masked_tokens"}

Unit = Literal["tokens", "updates"]
Curve = NDArray[np.float64]  # tokens or updates so far, and values; Shape: (2, points)


class Quantity(NamedTuple):
    """Quantity that a curve shows: a training average or a held-out score."""

    part: Literal["training", "held-out"]
    name: str


@dataclass(frozen=True, kw_only=True)
class Run:
    """Points of one run; runs with the same label are drawn as one."""

    label: str
    points: dict[Quantity, list[tuple[float, float, float]]] = field(default_factory=dict)
    """Updates made, tokens read (NaN where they were not counted), value."""

    def curve(self, quantity: Quantity, unit: Unit) -> Curve:
        """Return one curve; empty if the run has no such quantity."""
        rows = np.array(self.points.get(quantity, []), np.float64).reshape(-1, 3)
        return rows[:, [1 if unit == "tokens" else 0, 2]].T


def read_run(folder: Path, label: str = "") -> Run:
    """Read the curves of a run's folder, or of a model folder that keeps its curve.

    A last line that is still being written, or was cut by a kill, is ignored.

    Raises:
        DataError: If there is no such file, its content is something else, or it has no evaluation
            yet.
    """
    path = next((folder / n for n in (_EVENTS, _CURVE) if (folder / n).is_file()), None)
    if path is None:
        raise DataError(
            f"{folder}: expected the folder of a training run ({_EVENTS} or {_CURVE}), "
            f"found {'neither' if folder.is_dir() else 'no folder'}"
        )
    run = Run(label=label or folder.resolve().name)
    for number, row in _rows(path):
        try:
            at = float(row["update"]), float(row.get("tokens", math.nan))
            values = [*_values(row)]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise DataError.at(
                path, number, f"no event of a training run ({error!r:.80})"
            ) from None
        for quantity, value in values:
            if math.isfinite(value):
                run.points.setdefault(quantity, []).append((*at, value))
    if not any(quantity.part == "held-out" for quantity in run.points):
        raise DataError(f"{path}: no evaluation yet; try again after the first one")
    return run


def common_unit(runs: Sequence[Run]) -> Unit:
    """Return ``tokens`` if every point of every run has a token count, else ``updates``."""
    points = (p for run in runs for values in run.points.values() for p in values)
    return "tokens" if all(math.isfinite(tokens) for _, tokens, _ in points) else "updates"


def quantities(runs: Sequence[Run], names: Sequence[str] = ()) -> list[Quantity]:
    """Return the quantities to draw: the training loss and all held-out scores, or those named.

    Raises:
        ConfigError: If no run has one of ``names``.
    """
    found = list(dict.fromkeys(quantity for run in runs for quantity in run.points))
    known = {quantity.name for quantity in found}
    for name in names:
        if name not in known:
            raise ConfigError(f"no run has a value {name!r}; {nearest(name, known)}")
    if names:
        return [quantity for name in names for quantity in found if quantity.name == name]
    loss = Quantity("training", "loss")
    scores = [q for q in found if q.part == "held-out" and q.name not in _NOT_SCORES]
    return [loss, *scores] if loss in found else scores


def smoothed(curve: Curve, stretches: int = 80) -> Curve:
    """Average a curve over ``stretches`` equal intervals of its axis; empty ones are dropped."""
    x, y = curve
    if x.size <= stretches:
        return curve
    bins = np.minimum((x - x[0]) / (x[-1] - x[0]) * stretches, stretches - 1).astype(np.int64)
    counts = np.bincount(bins, minlength=stretches)
    sums = (np.bincount(bins, weights=values, minlength=stretches) for values in (x, y))
    return np.stack([s[counts > 0] / counts[counts > 0] for s in sums])


def mean_curve(curves: Sequence[Curve]) -> Curve:
    """Average curves over the range that all of them cover, at the points of the first."""
    if len(curves) == 1:
        return curves[0]
    # Runs of different seeds end a few tokens apart; clipping keeps the last value.
    first, last = max(c[0, 0] for c in curves), min(c[0, -1] for c in curves)
    x = np.unique(np.clip(curves[0][0], first, last))
    return np.stack([x, np.mean([np.interp(x, *curve) for curve in curves], axis=0)])


def last_means(runs: Sequence[Run]) -> dict[str, dict[str, float]]:
    """Return the final values of each label's mean held-out curves, and their ``tokens`` or
    ``updates``.
    """
    unit = common_unit(runs)
    found: dict[str, dict[str, float]] = {}
    for label in dict.fromkeys(run.label for run in runs):
        values: dict[str, float] = {"runs": sum(run.label == label for run in runs)}
        for quantity in quantities(runs):
            curves = [run.curve(quantity, unit) for run in runs if run.label == label]
            if quantity.part == "held-out" and all(curve.size for curve in curves):
                mean = mean_curve(curves)
                values |= {unit: mean[0, -1], quantity.name: float(mean[1, -1])}
        found[label] = values
    return found


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    lines = list(read_lines(path))
    for number, line in lines:
        try:
            row = parse_object(line, number, path)
        except DataError:
            if number == len(lines) > 1:
                return
            raise
        if not isinstance(row.get("update"), int):
            hint = "Give the folder of a training run"
            raise DataError.at(path, number, "expected 'update', found none", hint=hint)
        yield number, row


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)  # null: it was not finite


def _values(row: dict[str, Any]) -> Iterator[tuple[Quantity, float]]:
    match row.get("event"):
        case "progress":
            for name, value in {"loss": row["loss"], **row.get("measured", {})}.items():
                yield Quantity("training", name), _number(value)
        case "evaluation":
            for name, value in row["metrics"].items():
                yield Quantity("held-out", name), _number(value)
        case None:  # a line of curve.jsonl
            for name, value in row.items():
                if name not in ("update", "tokens"):
                    yield Quantity("held-out", name), _number(value)
