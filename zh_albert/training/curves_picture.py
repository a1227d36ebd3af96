"""Figures of training curves, with matplotlib (extra ``plots``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zh_albert.errors import ConfigError, MissingExtraError
from zh_albert.files.textio import atomic_write
from zh_albert.training.curves import (
    Curve,
    Quantity,
    Run,
    Unit,
    common_unit,
    mean_curve,
    quantities,
    smoothed,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Distinct to colour-blind readers, too. Source: Okabe and Ito, "Color Universal Design" (2008).
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B8860B", "#56B4E9", "#000000")
_INK, _GREY, _GRID = "#333333", "#767676", "#E6E6E6"
_GAP = 0.08  # minimum distance between two labels, as a fraction of the panel's height
_FRACTIONS = ("accuracy", "f1", "precision", "recall")


def draw_curves(runs: Sequence[Run], names: Sequence[str] = ()) -> Figure:
    """Draw the training loss and each held-out score over the tokens or updates of the runs.

    Runs with the same label share a colour: a thin line for each and a thick one for their mean.
    Labels are placed at the ends of the lines, with the last mean.

    Args:
        runs: At least one.
        names: Quantities to draw instead: scores, or averages measured in training.

    Raises:
        MissingExtraError: If matplotlib is not installed.
        ConfigError: If no run has one of ``names``, or there are more labels than colours.
    """
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtraError.of("matplotlib", "plots") from None
    shown, unit = quantities(runs, names), common_unit(runs)
    labels = list(dict.fromkeys(run.label for run in runs))
    if len(labels) > len(_COLOURS):
        raise ConfigError(
            f"expected at most {len(_COLOURS)} labels, one for each colour, found {len(labels)}: "
            "draw fewer runs, or give runs of one kind the same label (LABEL=RUN)"
        )
    columns = min(2, len(shown))
    rows = -(-len(shown) // columns)
    figure = Figure(figsize=(6.2 * columns, 3.6 * rows), layout="constrained", facecolor="white")
    for number, quantity in enumerate(shown, start=1):
        curves: dict[str, list[Curve]] = {label: [] for label in labels}
        for run in runs:
            curve = run.curve(quantity, unit)
            curves[run.label].append(smoothed(curve) if quantity.part == "training" else curve)
        _draw_panel(figure.add_subplot(rows, columns, number), quantity, unit, curves)
    figure.supxlabel(_explain(runs, labels), fontsize=8, color=_GREY)
    return figure


def write_picture(figure: Figure, path: Path) -> None:
    """Write a figure as ``.svg`` or ``.png``.

    Raises:
        ConfigError: If the file name has another ending.
    """
    import matplotlib  # noqa: PLC0415  (an extra)

    kind = path.suffix.lower().removeprefix(".")
    if kind not in ("svg", "png"):
        raise ConfigError(f"{path}: expected a name that ends in .svg or .png")
    # Text stays text in an SVG, and the same curves produce the same bytes.
    settings = {"svg.fonttype": "none", "svg.hashsalt": "curves"}
    metadata = {"Date": None} if kind == "svg" else {}
    with matplotlib.rc_context(settings), atomic_write(path) as file:
        figure.savefig(file, format=kind, dpi=150, metadata=metadata)


def _draw_panel(
    axes: Axes, quantity: Quantity, unit: Unit, curves: Mapping[str, list[Curve]]
) -> None:
    from matplotlib.ticker import EngFormatter  # noqa: PLC0415  (an extra)

    highest = max(curve[1].max() for drawn in curves.values() for curve in drawn if curve.size)
    fraction = quantity.name.endswith(_FRACTIONS) and highest <= 1  # a reader's F1 is in percent
    axes.set_title(_title(quantity), loc="left", fontsize=11, color=_INK)
    axes.set_xlabel(f"{unit} read" if unit == "tokens" else unit, fontsize=9, color=_INK)
    axes.xaxis.set_major_formatter(EngFormatter(sep=" "))
    if fraction:
        axes.yaxis.set_major_formatter(lambda value, _: f"{value * 100:.4g} %")
    axes.grid(color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelsize=9, labelcolor=_INK)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(_GREY)

    ends = []
    for colour, (label, drawn) in zip(_COLOURS, curves.items(), strict=False):
        present = [curve for curve in drawn if curve.size]
        if not present:
            continue
        mean = mean_curve(present)
        for curve in present if len(present) > 1 else []:
            axes.plot(*curve, color=colour, linewidth=0.8, alpha=0.45)
        style = "o-" if mean.shape[1] < 30 else "-"
        axes.plot(*mean, style, c=colour, lw=2.2, ms=3.5, solid_capstyle="round")
        last = mean[1, -1]
        shown = f"{last * 100:.1f} %" if fraction else f"{last:.3g}"
        ends.append((last, f"{label}  {shown}", colour))
    axes.margins(x=0.02, y=0.08)
    axes.set_xlim(left=0)
    _label_ends(axes, ends)


def _label_ends(axes: Axes, ends: Sequence[tuple[float, str, str]]) -> None:
    """Write each (value, text, colour) beside a panel at its height, without overlap."""
    low, high = axes.get_ylim()
    place = -_GAP
    for value, text, colour in sorted(ends):
        place = max((value - low) / (high - low), place + _GAP)
        axes.annotate(
            text, (1.015, place), xycoords="axes fraction", color=colour, va="center", fontsize=10
        )


def _title(quantity: Quantity) -> str:
    unit = ", nats" if quantity.name.endswith("loss") else ""
    return f"{quantity.part} {quantity.name.replace('_', ' ')}{unit}"


def _explain(runs: Sequence[Run], labels: Sequence[str]) -> str:
    counts = {label: sum(run.label == label for run in runs) for label in labels}
    said = "Training values are averaged over stretches of the axis."
    if several := [f"{label} {count}" for label, count in counts.items() if count > 1]:
        said += f" Thin: single runs ({', '.join(several)}); thick: their mean."
    return said
