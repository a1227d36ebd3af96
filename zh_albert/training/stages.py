"""Progress of work other than updates: preparation before training, scoring on dev."""

from __future__ import annotations

import time

from zh_albert.runtimes.selection import LazyRuntime
from zh_albert.training.events import Event, Observer, StageProgress

_REPORT_EVERY_S = 1.0


def silent(_: Event) -> None:
    """Ignore an event; an observer."""


class StageMeter:
    """Count finished items and report to an observer, at most once a second and at the end.

    Args:
        what: Name of the work, for display.
        total: Number of items.
        progress: Observer that receives the events.
        done: Items finished before, for example by an interrupted run.
    """

    def __init__(self, what: str, total: int, progress: Observer, *, done: int = 0) -> None:
        self._what, self._total, self._progress = what, total, progress
        self._before = self._done = done
        self._started, self._reported = time.monotonic(), 0.0

    def advance(self, number: int = 1) -> None:
        """Count further finished items."""
        self._done += number
        seconds = time.monotonic() - self._started
        if seconds - self._reported < _REPORT_EVERY_S and self._done < self._total:
            return
        self._reported, rate = seconds, (self._done - self._before) / max(seconds, 1e-9)
        self._progress(
            StageProgress(
                what=self._what,
                done=self._done,
                total=self._total,
                per_second=rate,
                seconds_left=(self._total - self._done) / rate,
            )
        )


def watched(runtime: LazyRuntime, what: str, progress: Observer) -> LazyRuntime:
    """Return the same runtime with the number of tokens it has processed reported to an observer.

    Args:
        runtime: The runtime of a network.
        what: See ``StageMeter``.
        progress: Observer that receives the events.
    """
    return runtime.watched(lambda tokens: StageMeter(what, tokens, progress).advance)
