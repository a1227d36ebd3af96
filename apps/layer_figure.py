"""Lines over an encoder's layers, one for each model, as inline SVG."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from apps.line_figure import ticks
from apps.markup import escape

_WIDTH, _HEIGHT = 360, 230  # in its own units; about as many pixels
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 14, 12, 40  # room around the drawing
_MAX_MARKS = 12  # layers written at the bottom


@dataclass(frozen=True, slots=True)
class LayerLine:
    """One model's line.

    Attributes:
        name: For those who point at it.
        values: One for each layer, from the first.
        colour: The number of its colour in the style sheet.
        is_chosen: Whether it is drawn above the others, and stronger.
        is_dashed: Whether it is dashed.
    """

    name: str
    values: Sequence[float]
    colour: int
    is_chosen: bool = False
    is_dashed: bool = False


def layer_figure(title: str, layers: str, lines: Sequence[LayerLine], groups: Sequence[int]) -> str:
    """Draw the lines over the layers, from 0 up.

    Args:
        title: What the values are.
        layers: What stands below the layers' numbers.
        lines: At least one.
        groups: A number for each layer; every second run of the same number is tinted.
    """
    count = max(len(line.values) for line in lines)
    high = 1.08 * max(max(line.values) for line in lines) or 1.0
    ordered = sorted(lines, key=lambda line: line.is_chosen)
    return (
        f'<svg class="za-figure" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(title)}">{_bands(groups, count)}'
        f"{_scales(layers, count, high)}"
        f"{''.join(_line(line, count, high) for line in ordered)}</svg>"
    )


def _x(layer: int, count: int) -> float:
    room = _WIDTH - _LEFT - _RIGHT
    return round(_LEFT + room * (layer + 0.5) / count, 1)


def _y(value: float, high: float) -> float:
    return round(_HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * value / high, 1)


def _bands(groups: Sequence[int], count: int) -> str:
    width = (_WIDTH - _LEFT - _RIGHT) / count
    height = _HEIGHT - _TOP - _BOTTOM
    runs = [len(list(run)) for _, run in itertools.groupby(groups)]
    starts = itertools.accumulate(runs, initial=0)
    return "".join(
        f'<rect class="za-band" x="{_LEFT + start * width:.1f}" y="{_TOP}" '
        f'width="{run * width:.1f}" height="{height}"/>'
        for number, (start, run) in enumerate(zip(starts, runs, strict=False))
        if number % 2 == 0
    )


def _scales(layers: str, count: int, high: float) -> str:
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    parts = []
    for value in ticks(0, high):
        y = _y(value, high)
        parts.append(f'<line class="za-grid" x1="{_LEFT}" x2="{right}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text x="{_LEFT - 7}" y="{y + 4}" text-anchor="end">{value:g}</text>')
    for layer in range(0, count, -(-count // _MAX_MARKS)):
        x = _x(layer, count)
        parts.append(f'<text x="{x}" y="{bottom + 17}" text-anchor="middle">{layer + 1}</text>')
    middle = (_LEFT + right) // 2
    parts.append(f'<text x="{middle}" y="{_HEIGHT - 6}" text-anchor="middle">{escape(layers)}')
    return "".join([*parts, "</text>"])


def _line(line: LayerLine, count: int, high: float) -> str:
    places = [(_x(i, count), _y(value, high)) for i, value in enumerate(line.values)]
    kind = f"za-layers za-l{line.colour}"
    kind += " za-chosen" if line.is_chosen else ""
    kind += " za-dashed" if line.is_dashed else ""
    points = " ".join(f"{x},{y}" for x, y in places)
    dots = "".join(
        f'<circle cx="{x}" cy="{y}" r="{4 if line.is_chosen else 3}">'
        f"<title>{escape(line.name)} · {layer}: {value:.2f}</title></circle>"
        for layer, ((x, y), value) in enumerate(zip(places, line.values, strict=True), start=1)
    )
    return f'<g class="{kind}"><polyline points="{points}"/>{dots}</g>'
