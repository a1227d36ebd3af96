"""A figure of lines over an encoder's layers, one line a model."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from apps.markup.svg import Frame, ticks
from apps.markup.text import escape

_FRAME = Frame(height=230, left=40, right=14, top=12)
_MAX_NUMBERS = 12  # of layers, written at the bottom


@dataclass(frozen=True, slots=True)
class LayerLine:
    """The line of one model.

    Attributes:
        name: The model's name, shown where the mouse points at the line.
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
    """Draw lines over the layers, from 0 up.

    Args:
        title: The name of the values.
        layers: The word below the layers' numbers.
        lines: At least one.
        groups: A number for each layer; every second run of the same number is tinted.
    """
    count = max(len(line.values) for line in lines)
    high = 1.08 * max(max(line.values) for line in lines) or 1.0
    return _FRAME.svg(
        title,
        *_bands(groups, count),
        *(_FRAME.row(_FRAME.y(value / high), f"{value:g}") for value in ticks(0, high)),
        *(
            _FRAME.column(_x(layer, count), str(layer + 1))
            for layer in range(0, count, -(-count // _MAX_NUMBERS))
        ),
        _FRAME.name(layers),
        *(_line(line, count, high) for line in sorted(lines, key=lambda line: line.is_chosen)),
    )


def _x(layer: int, count: int) -> float:
    return _FRAME.x((layer + 0.5) / count)


def _bands(groups: Sequence[int], count: int) -> list[str]:
    width, height = _FRAME.x(1) - _FRAME.x(0), _FRAME.y(0) - _FRAME.y(1)
    runs = [len(list(run)) for _, run in itertools.groupby(groups)]
    starts = itertools.accumulate(runs, initial=0)
    return [
        f'<rect class="za-band" x="{_FRAME.left + start * width / count:.1f}" y="{_FRAME.top}" '
        f'width="{run * width / count:.1f}" height="{height:.0f}"/>'
        for start, run in list(zip(starts, runs, strict=False))[::2]
    ]


def _line(line: LayerLine, count: int, high: float) -> str:
    places = [(_x(i, count), _FRAME.y(value / high)) for i, value in enumerate(line.values)]
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
