"""Aggregation of single updates into ``Progress`` events."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator, Sequence

from zh_albert.training.events import Observer, Progress
from zh_albert.training.resume import RunState

_REPORT_EVERY_S = 1.0
_REPORTS = 10  # at least, of a run

Figures = dict[str, tuple[float, float]]  # name → sum, and number of items summed


def add_figure(figures: Figures, name: str, value: float, count: float) -> None:
    """Add a sum and its number of items to an entry."""
    old_value, old_count = figures.get(name, (0.0, 0.0))
    figures[name] = old_value + value, old_count + count


class Meter:
    """Report updates as ``Progress`` events, one a second and at each tenth of the run; time spent
    evaluating is excluded.
    """

    def __init__(self, state: RunState, total: int, observers: Sequence[Observer]) -> None:
        self._state, self._total, self._observers = state, total, observers
        self._clock = time.monotonic()
        self._reset()

    def _reset(self) -> None:
        self._figures: Figures = {}
        self._tokens = 0
        self._seconds = 0.0

    def count(self, figures: Figures, tokens: int, rate: float, *, done: bool) -> None:
        """Count one update; report if a second has passed or the run is done."""
        now = time.monotonic()
        passed, self._clock = now - self._clock, now
        self._state.seconds += passed
        self._seconds += passed
        for name, (value, count) in figures.items():
            add_figure(self._figures, name, value, count)
        self._tokens += tokens
        update = self._state.update
        # A run of seconds also tells how its loss changed (``ChanceWatch``, the curves).
        due = update % max(self._total // _REPORTS, 1) == 0
        if self._seconds < _REPORT_EVERY_S and not (done or due):
            return
        means = {name: value / max(n, 1e-9) for name, (value, n) in self._figures.items()}
        event = Progress(
            update=update,
            total=self._total,
            epoch=self._state.epoch,
            tokens=self._state.tokens,
            loss=means.pop("loss", math.nan),
            measured=means,
            learning_rate=rate,
            tokens_per_second=self._tokens / max(self._seconds, 1e-9),
            seconds=self._state.seconds,
            seconds_left=self._state.seconds / update * (self._total - update),
        )
        for observer in self._observers:
            observer(event)
        self._reset()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Exclude the time spent inside the context."""
        yield
        self._clock = time.monotonic()
