"""What takes its time beside the updates tells how far it is: preparation, scoring."""

from __future__ import annotations

import time

from zh_albert.runtimes.selection import Runtimes
from zh_albert.training.events import Event, Observer, Stage

_TELL_EVERY_S = 1.0


def silent(_: Event) -> None:
    """Listen to nothing; an observer."""


class StageMeter:
    """Counts what is done and tells an observer, at most once a second and at the end.

    Args:
        what: What is being done, to be shown.
        total: How many of it there are.
        progress: Is told.
        done: So many were done before.
    """

    def __init__(self, what: str, total: int, progress: Observer, *, done: int = 0) -> None:
        self._what, self._total, self._say = what, total, progress
        self._before = self._done = done
        self._started, self._told = time.monotonic(), 0.0

    def advance(self, number: int = 1) -> None:
        """Count further ones that are done."""
        self._done += number
        seconds = time.monotonic() - self._started
        if seconds - self._told < _TELL_EVERY_S and self._done < self._total:
            return
        self._told, rate = seconds, (self._done - self._before) / max(seconds, 1e-9)
        self._say(
            Stage(
                what=self._what,
                done=self._done,
                total=self._total,
                per_second=rate,
                seconds_left=(self._total - self._done) / rate,
            )
        )


def watched(runtimes: Runtimes, what: str, progress: Observer) -> Runtimes:
    """Return the same runtimes; an observer is told how many tokens of a piece of work are run.

    Args:
        runtimes: Run a network.
        what: See ``StageMeter``.
        progress: Is told.
    """
    return runtimes.watched(lambda tokens: StageMeter(what, tokens, progress).advance)
