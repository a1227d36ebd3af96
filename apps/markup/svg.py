"""The frame of a figure as inline SVG: its scales, without a script, a library or a request."""

from __future__ import annotations

import math
from dataclasses import dataclass

from apps.markup.text import escape


@dataclass(frozen=True, slots=True)
class Frame:
    """The area a figure is drawn in, in units of its own, about as large as pixels.

    Attributes:
        height: The height of the figure.
        left: Room for the numbers of the vertical scale.
        right: Room at the right.
        top: Room at the top.
        bottom: Room for the numbers and the name of the horizontal scale.
        width: The width of the figure.
    """

    height: int
    left: int
    right: int
    top: int
    bottom: int = 40
    width: int = 360

    def x(self, share: float) -> float:
        """Return the place of a share of the width, from 0 at the left to 1 at the right."""
        return round(self.left + (self.width - self.left - self.right) * share, 1)

    def y(self, share: float) -> float:
        """Return the place of a share of the height, from 0 at the bottom to 1 at the top."""
        room = self.height - self.top - self.bottom
        return round(self.height - self.bottom - room * share, 1)

    def svg(self, title: str, *parts: str) -> str:
        """Return the figure; its colours come from the style sheet."""
        return (
            f'<svg class="za-figure" viewBox="0 0 {self.width} {self.height}" role="img" '
            f'aria-label="{escape(title)}">{"".join(parts)}</svg>'
        )

    def across(self, kind: str, y: float) -> str:
        """Return a line from the left to the right."""
        right = self.width - self.right
        return f'<line class="{kind}" x1="{self.left}" x2="{right}" y1="{y}" y2="{y}"/>'

    def row(self, y: float, number: str) -> str:
        """Return a line of the grid, with its number at the left."""
        text = f'<text x="{self.left - 7}" y="{y + 4}" text-anchor="end">{number}</text>'
        return self.across("za-grid", y) + text

    def column(self, x: float, number: str, anchor: str = "middle") -> str:
        """Return a number of the horizontal scale."""
        y = self.height - self.bottom + 17
        return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{number}</text>'

    def name(self, text: str) -> str:
        """Return the name of the horizontal scale."""
        middle = (self.left + self.width - self.right) // 2
        return (
            f'<text x="{middle}" y="{self.height - 6}" text-anchor="middle">{escape(text)}</text>'
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
