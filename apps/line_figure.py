"""A line over a count that grows, as inline SVG: no script, no library, no request."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from apps.markup import escape
from apps.texts.languages import Language

_WIDTH, _HEIGHT = 360, 220  # in its own units; about as many pixels
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 16, 14, 40  # room around the drawing
_MAX_DOTS = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class LineFigure:
    """One line, and the range it is drawn in.

    Attributes:
        say: The page's language.
        title: What the line is.
        hint: How to read it.
        across: What its points are counted in.
        places: Where they stand, ascending.
        values: How high; as many.
        low: The value at the bottom.
        high: The value at the top.
        is_share: Whether values are shares from 0 to 1, written in percent.
        chance: Where a dashed line shows what guessing gives; None without one.
        until: Where the drawing ends, if its line has not come there yet.
    """

    say: Language
    title: str
    hint: str
    across: str
    places: Sequence[float]
    values: Sequence[float]
    low: float
    high: float
    is_share: bool
    chance: float | None = None
    until: float = 0

    def draw(self) -> str:
        """Return the figure; its colours come from the style sheet."""
        places = [(self._x(count), self._y(value)) for count, value in self._points()]
        line = " ".join(f"{x},{y}" for x, y in places)
        area = ""
        if self.low == 0:  # above another line the area would mean nothing
            (first, _), (last, _), bottom = places[0], places[-1], self._y(0)
            area = f'<polygon class="za-area" points="{first},{bottom} {line} {last},{bottom}"/>'
        about = f"{self.title}: {self._written(self.values[0])} → {self._written(self.values[-1])}"
        return (
            f'<svg class="za-figure" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
            f'aria-label="{escape(about)}">{self._scales()}'
            f'{area}<polyline class="za-line" points="{line}"/>{self._dots()}</svg>'
        )

    def _points(self) -> list[tuple[float, float]]:
        return list(zip(self.places, self.values, strict=True))

    @property
    def _end(self) -> float:
        return max(self.places[-1], self.until, 1)

    def _x(self, count: float) -> float:
        room = _WIDTH - _LEFT - _RIGHT
        return round(_LEFT + room * count / self._end, 1)

    def _y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(_HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * share, 1)

    def _written(self, value: float) -> str:
        return f"{100 * value:.1f}%" if self.is_share else f"{value:.2f}"

    def _scales(self) -> str:
        right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
        parts = []
        for value in ticks(self.low, self.high):
            y, written = self._y(value), f"{100 * value:g}%" if self.is_share else f"{value:g}"
            parts.append(f'<line class="za-grid" x1="{_LEFT}" x2="{right}" y1="{y}" y2="{y}"/>')
            parts.append(f'<text x="{_LEFT - 7}" y="{y + 4}" text-anchor="end">{written}</text>')
        for count in ticks(0, self._end, 4):
            x, written = self._x(count), self.say.count(count)
            anchor = "end" if x > right - 20 else "middle"
            parts.append(f'<text x="{x}" y="{bottom + 17}" text-anchor="{anchor}">{written}</text>')
        name = escape(self.across)
        middle = (_LEFT + right) // 2
        parts.append(f'<text x="{middle}" y="{_HEIGHT - 6}" text-anchor="middle">{name}</text>')
        if self.chance is not None:
            y = self._y(self.chance)
            parts.append(f'<line class="za-chance" x1="{_LEFT}" x2="{right}" y1="{y}" y2="{y}"/>')
        return "".join(parts)

    def _dots(self) -> str:
        points = self._points()
        return "".join(
            f'<circle class="za-dot" cx="{self._x(count)}" cy="{self._y(value)}" r="3">'
            f"<title>{self.say.count(count)}: {self._written(value)}</title></circle>"
            for count, value in (points[index] for index in spread(len(points), _MAX_DOTS))
        )


def spread(count: int, most: int) -> list[int]:
    """Return up to ``most`` of ``count`` indices, evenly spread, with the first and the last.

    >>> spread(3, 5), spread(101, 5)
    ([0, 1, 2], [0, 25, 50, 75, 100])
    """
    kept = min(count, most)
    return sorted({round(number * (count - 1) / max(kept - 1, 1)) for number in range(kept)})


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round numbers within a range, at most ``most``.

    >>> ticks(0, 1), ticks(5.6, 9.2), ticks(0, 1_228_800, 4)
    ([0.0, 0.25, 0.5, 0.75, 1.0], [6.0, 7.0, 8.0, 9.0], [0.0, 500000.0, 1000000.0])
    """
    size = 10.0 ** math.floor(math.log10((high - low) / most))
    steps = (factor * size for factor in (1, 2, 2.5, 5, 10, 20))
    for step in steps:
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            break
    return [round(number * step, 12) for number in range(first, last + 1)]
