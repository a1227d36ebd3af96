"""A figure of one line over a growing count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from apps.i18n.page import PageStrings
from apps.markup.sections import caption, section
from apps.markup.svg import Frame, spread, ticks
from apps.markup.text import element

_FRAME = Frame(height=220, left=46, right=16, top=14)
_MAX_DOTS = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class LineFigure:
    """One line, and the range it is drawn in.

    Attributes:
        strings: The page's strings.
        title: The name of the values.
        hint: How to read the figure.
        across: The unit of the counts.
        points: Counts, ascending, and values; at least one.
        low: The value at the bottom.
        high: The value at the top.
        is_share: Whether values are shares from 0 to 1, written in percent.
        chance: The result of guessing, drawn as a dashed line; None without one.
        until: The end of the scale, while the counts have not reached it.
    """

    strings: PageStrings
    title: str
    hint: str
    across: str
    points: Sequence[tuple[float, float]]
    low: float = 0
    high: float = 1
    is_share: bool = True
    chance: float | None = None
    until: float = 0

    def draw(self) -> str:
        """Return the figure as a section with its title and hint."""
        places = [(self._x(count), self._y(value)) for count, value in self.points]
        line = " ".join(f"{x},{y}" for x, y in places)
        area = ""
        if self.low == 0:  # above another line the area would mean nothing
            (first, _), (last, _), bottom = places[0], places[-1], self._y(0)
            area = f'<polygon class="za-area" points="{first},{bottom} {line} {last},{bottom}"/>'
        begin, end = (self._written(self.points[index][1]) for index in (0, -1))
        drawn = f'<polyline class="za-line" points="{line}"/>'
        figure = _FRAME.svg(
            f"{self.title}: {begin} → {end}", *self._scales(), area, drawn, *self._dots()
        )
        return section(f"{element(self.title, 'h3')}{figure}{caption(self.hint)}")

    @property
    def _end(self) -> float:
        return max(self.points[-1][0], self.until, 1)

    def _x(self, count: float) -> float:
        return _FRAME.x(count / self._end)

    def _y(self, value: float) -> float:
        return _FRAME.y((value - self.low) / (self.high - self.low))

    def _written(self, value: float) -> str:
        return f"{100 * value:.1f}%" if self.is_share else f"{value:.2f}"

    def _scales(self) -> list[str]:
        rows = [
            _FRAME.row(self._y(value), f"{100 * value:g}%" if self.is_share else f"{value:g}")
            for value in ticks(self.low, self.high)
        ]
        columns = []
        for count in ticks(0, self._end, 4):
            x = self._x(count)
            anchor = "end" if x > _FRAME.x(1) - 20 else "middle"  # within the figure
            columns.append(_FRAME.column(x, self.strings.count(count), anchor))
        chance = "" if self.chance is None else _FRAME.across("za-chance", self._y(self.chance))
        return [*rows, *columns, _FRAME.name(self.across), chance]

    def _dots(self) -> list[str]:
        shown = (self.points[index] for index in spread(len(self.points), _MAX_DOTS))
        return [
            f'<circle class="za-dot" cx="{self._x(count)}" cy="{self._y(value)}" r="3">'
            f"<title>{self.strings.count(count)}: {self._written(value)}</title></circle>"
            for count, value in shown
        ]


def figures(drawn: Sequence[LineFigure]) -> str:
    """Return figures side by side, where there is room."""
    return f'<div class="za-figures">{"".join(figure.draw() for figure in drawn)}</div>'
