"""Figures of single updates become the ``Progress`` events that people see."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator, Sequence

from zh_albert.training.events import Observer, Progress
from zh_albert.training.resume import RunState

_REPORT_EVERY_S = 1.0

Figures = dict[str, tuple[float, float]]  # name → sum, and what it is of


def add_figure(figures: Figures, name: str, value: float, count: float) -> None:
    """Add a sum, and what it is of, to what was added before."""
    old_value, old_count = figures.get(name, (0.0, 0.0))
    figures[name] = old_value + value, old_count + count


class Meter:
    """Turns updates into ``Progress`` events, one a second; time spent evaluating is left out."""

    def __init__(self, position: RunState, total: int, listeners: Sequence[Observer]) -> None:
        self._position, self._total, self._listeners = position, total, listeners
        self._clock = time.monotonic()
        self._start_over()

    def _start_over(self) -> None:
        self._figures: Figures = {}
        self._tokens = 0
        self._seconds = 0.0

    def count(self, figures: Figures, tokens: int, rate: float, *, done: bool) -> None:
        """Take one update into account; report if it is time, or the run is done."""
        now = time.monotonic()
        passed, self._clock = now - self._clock, now
        self._position.seconds += passed
        self._seconds += passed
        for name, (value, count) in figures.items():
            add_figure(self._figures, name, value, count)
        self._tokens += tokens
        if self._seconds < _REPORT_EVERY_S and not done:
            return
        update = self._position.update
        means = {name: value / max(n, 1e-9) for name, (value, n) in self._figures.items()}
        event = Progress(
            update=update,
            total=self._total,
            epoch=self._position.epoch,
            tokens=self._position.tokens,
            loss=means.pop("loss", math.nan),
            measured=means,
            learning_rate=rate,
            tokens_per_second=self._tokens / max(self._seconds, 1e-9),
            seconds=self._position.seconds,
            seconds_left=self._position.seconds / update * (self._total - update),
        )
        for listener in self._listeners:
            listener(event)
        self._start_over()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock."""
        yield
        self._clock = time.monotonic()
