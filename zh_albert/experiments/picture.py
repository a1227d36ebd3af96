"""Picture of a comparison with matplotlib (extra ``plots``): scores over a cost, Pareto front."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zh_albert.errors import ConfigError, MissingExtraError, nearest
from zh_albert.experiments.comparison import Comparison
from zh_albert.experiments.statistics import Summary, pareto_front

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

# Distinct to colour-blind readers and in grey, too: the second is also hollow.
# Source: Okabe and Ito, "Color Universal Design" (2008).
_ON_FRONT, _BEATEN = "#0072B2", "#D55E00"
_INK, _GREY, _GRID = "#333333", "#767676", "#E6E6E6"
_DISTANCES = (9, 18, 30, 44)  # points of type, from a mark to its label
_MARK_PX = 6  # pixels, half a mark and a little space
_ANGLES = (0, 180, 90, 270, 45, 315, 135, 225, 20, 340, 160, 200, 70, 290, 110, 250)  # degrees


class _Point(NamedTuple):
    name: str
    x: Summary
    y: Summary


def draw_comparison(
    comparison: Comparison,
    *,
    x: str,
    x_title: str | None = None,
    y_title: str | None = None,
) -> Figure:
    """Draw each arm as a point; write it with ``training.curves_picture.write_picture``.

    Filled marks on the line are the Pareto front: no other arm is cheaper and better. Bars are
    standard deviations over seeds. Arms without runs are left out, and names that find no place
    beside others.

    Args:
        comparison: The results.
        x: Metric of which less is better: parameters, bytes, milliseconds; on a logarithmic axis.
        x_title: Title of the axis, with the unit; the metric's name by default.
        y_title: Likewise.

    Raises:
        MissingExtraError: If matplotlib is not installed.
        ConfigError: If there is no such metric, or a value of ``x`` is not positive.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415  (an extra)
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError.of("matplotlib", "plots") from None
    y = comparison.score
    points = _points(comparison, x, y)
    figure = Figure(figsize=(7.2, 4.6), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)  # measures texts
    axes = figure.add_subplot()
    costs = np.array([one.x.mean for one in points])
    _dress(axes, costs, x_title or x, y_title or y)
    front = pareto_front(costs, [one.y.mean for one in points])
    for place, one in enumerate(points):
        colour = _ON_FRONT if place in front else _BEATEN
        axes.errorbar(
            one.x.mean,
            one.y.mean,
            xerr=np.nan_to_num(one.x.sd),
            yerr=np.nan_to_num(one.y.sd),
            fmt="o",
            color=colour,
            markerfacecolor=colour if place in front else "white",
            markersize=7,
            elinewidth=1.1,
            capsize=2.5,
            zorder=3,
        )
    line = _steps([points[place] for place in front])
    axes.plot(*line.T, color=_ON_FRONT, linewidth=1.2, alpha=0.6, zorder=2)
    axes.margins(x=0.12, y=0.12)
    note = "Filled marks and line: Pareto front."
    if any(one.y.sd > 0 or one.x.sd > 0 for one in points):
        note += f" Bars: standard deviation over {len(comparison.seeds)} seeds."
    below = figure.supxlabel(note, fontsize=8, color=_GREY)
    # Where marks are too close for all names, those on the front have theirs.
    others = [one for place, one in enumerate(points) if place not in front]
    if not _label(figure, axes, [*(points[place] for place in front), *others], line):
        below.set_text(f"{note} Names that find no place: see the table.")
    return figure


def _points(comparison: Comparison, x: str, y: str) -> list[_Point]:
    for metric in (x, y):
        if metric not in comparison.metrics:
            hint = nearest(metric, comparison.metrics)
            raise ConfigError(f"no run has measured {metric!r}; {hint}")
    names = [arm.name for arm in comparison.arms]
    found = [_Point(n, comparison.summary(n, x), comparison.summary(n, y)) for n in names]
    points = [one for one in found if one.x.runs and one.y.runs]
    for one in points:
        if one.x.mean <= 0:
            raise ConfigError(
                f"{one.name}: expected {x} above 0 on a logarithmic axis, found {one.x.mean:.4g}; "
                "draw it over another metric"
            )
    if not points:
        raise ConfigError(f"expected an arm with {x!r} and {y!r}, found none: all runs failed")
    return points


def _dress(axes: Axes, costs: NDArray[np.float64], x_title: str, y_title: str) -> None:
    from matplotlib.ticker import (  # noqa: PLC0415
        EngFormatter,
        LogLocator,
        MaxNLocator,
        NullFormatter,
    )

    axes.set_xscale("log")
    wide = costs.max() >= 10 * costs.min()
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)) if wide else MaxNLocator(6))
    axes.xaxis.set_major_formatter(EngFormatter(sep=" "))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(x_title, fontsize=9, color=_INK)
    axes.set_title(y_title, loc="left", fontsize=11, color=_INK)
    axes.grid(color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", length=0, labelsize=9, labelcolor=_INK)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(_GREY)


def _steps(front: Sequence[_Point]) -> NDArray[np.float64]:
    """Return the corners of the stairs: at each cost, the best score up to it. Shape: (any, 2)."""
    corners = [(front[0].x.mean, front[0].y.mean)]
    for one in front[1:]:
        corners += [(one.x.mean, corners[-1][1]), (one.x.mean, one.y.mean)]
    return np.array(corners)


def _label(figure: Figure, axes: Axes, points: Sequence[_Point], line: NDArray[np.float64]) -> bool:
    """Write each name at the nearest place where it covers no mark, bar, line or other name.

    Returns:
        Whether all names have found one; the others are left out.
    """
    canvas: Any = figure.canvas
    figure.draw_without_rendering()  # settles the layout, which labels then leave as it is
    renderer, inside = canvas.get_renderer(), axes.get_window_extent()
    taken = _taken(axes, points, line)
    names: list[Bbox] = []
    for one in points:
        mark = axes.transData.transform((one.x.mean, one.y.mean))
        for distance, angle in itertools.product(_DISTANCES, _ANGLES):
            label = _annotate(axes, one, distance, angle, leader=False)
            box = label.get_window_extent(renderer).padded(1)
            label.remove()
            leader = _along(mark, np.clip(mark, box.min, box.max))
            is_free = (
                box.width * box.height - _common_area(box, inside) < 1
                and not any(_common_area(box, other) for other in taken)
                and not any(_common_area(part, name) for part in [box, *leader] for name in names)
            )
            if is_free:
                names.append(box)
                taken += leader
                _annotate(axes, one, distance, angle, leader=distance > _DISTANCES[0])
                break
    return len(names) == len(points)


def _annotate(
    axes: Axes, point: _Point, distance: float, angle: float, *, leader: bool
) -> Annotation:
    right, up = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    label = axes.annotate(
        point.name,
        (point.x.mean, point.y.mean),
        (distance * right, distance * up),
        textcoords="offset points",
        ha="left" if right > 0.1 else "right" if right < -0.1 else "center",
        va="bottom" if up > 0.1 else "top" if up < -0.1 else "center",
        fontsize=9,
        color=_INK,
        arrowprops={"arrowstyle": "-", "color": _GREY, "linewidth": 0.6} if leader else None,
        zorder=4,
    )
    label.set_in_layout(False)
    return label


def _taken(axes: Axes, points: Sequence[_Point], line: NDArray[np.float64]) -> list[Bbox]:
    """Return the boxes of marks, bars and the line, in pixels."""
    from matplotlib.transforms import Bbox  # noqa: PLC0415  (an extra)

    boxes = []
    for one in points:
        middle = np.array([one.x.mean, one.y.mean])
        spread = np.nan_to_num([one.x.sd, one.y.sd])
        for half in (spread * [1, 0], spread * [0, 1]):
            low = np.maximum(middle - half, [middle[0] / 1000, -np.inf])  # above 0, for the log
            ends = axes.transData.transform([low, middle + half])
            boxes.append(Bbox([ends.min(0) - _MARK_PX, ends.max(0) + _MARK_PX]))
    for start, end in itertools.pairwise(axes.transData.transform(line)):
        boxes += _along(start, end)
    return boxes


def _along(start: NDArray[np.float64], end: NDArray[np.float64]) -> list[Bbox]:
    """Return small boxes along a line between two points, in pixels."""
    from matplotlib.transforms import Bbox  # noqa: PLC0415  (an extra)

    steps = max(2, int(np.abs(end - start).max() / _MARK_PX))
    return [Bbox([place - 1, place + 1]) for place in np.linspace(start, end, steps)]


def _common_area(one: Bbox, other: Bbox) -> float:
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return float(max(width, 0) * max(height, 0))
