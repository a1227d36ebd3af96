"""Progress on standard error: a live bar on a terminal, otherwise a line every ten seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from zh_albert.training.events import Evaluation, Event, StageProgress, Warned
from zh_albert.training.events import Progress as Update

T = TypeVar("T")

_LINE_EVERY_S = 10.0


def echo(text: str) -> None:
    """Write one line to standard error."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def track(items: Iterable[T], *, total: int | None, what: str) -> Iterator[T]:
    """Yield the items and show their number, their rate and the time left."""
    console = Console(stderr=True)
    if console.is_terminal:
        with _bar(console) as bar:
            task = bar.add_task(what, total=total, note="")
            started = time.monotonic()
            for count, item in enumerate(items, start=1):
                yield item
                rate = count / max(1e-9, time.monotonic() - started)
                bar.update(task, completed=count, note=f"{rate:,.0f}/s")
        return
    started = last = arrived = time.monotonic()
    count = 0
    for count, item in enumerate(items, start=1):
        now = time.monotonic()
        if now - last >= _LINE_EVERY_S:
            last = now
            # Answers arrive in chunks of thousands: the rate is that of the items before this one.
            if done := count - 1:
                rate = done / max(1e-9, arrived - started)
                left = f", {_time((total - done) / rate)} left" if total else ""
                echo(f"{what}: {done:,}{f' of {total:,}' if total else ''}, {rate:,.0f}/s{left}")
        arrived = now
        yield item
    echo(f"{what}: {count:,} done in {_time(time.monotonic() - started)}")


class TrainingDisplay:
    """Progress observer for training and scoring (``training.events``); a context manager."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._bar = _bar(console) if console.is_terminal else None
        self._tasks: dict[str, TaskID] = {}
        self._last_line = 0.0

    def __enter__(self) -> TrainingDisplay:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, event: Event) -> None:
        """Show the event."""
        if isinstance(event, Update):
            measured = "".join(f"{name} {value:.3f}  " for name, value in event.measured.items())
            note = (
                f"epoch {event.epoch}  loss {event.loss:.4f}  {measured}"
                f"rate {event.learning_rate:.2e}  {event.tokens_per_second:,.0f} tokens/s"
            )
            line = f"update {event.update}/{event.total}  {note}  {_time(event.seconds_left)} left"
            self._advance("training", event.update, event.total, note, line)
        elif isinstance(event, StageProgress) and (self._bar or event.done < event.total):
            note = f"{event.per_second:,.{0 if event.per_second >= 10 else 1}f}/s"
            line = (
                f"{event.what}: {event.done:,} of {event.total:,}, {note}, "
                f"{_time(event.seconds_left)} left"
            )
            self._advance(event.what, event.done, event.total, note, line)
        elif isinstance(event, Evaluation):
            scores = "  ".join(
                f"{name} {value:.4f}"
                for name, value in event.metrics.items()
                if isinstance(value, float) and name != "seconds"
            )
            self._line(f"dev at {event.update}: {scores}{'  (best)' if event.best else ''}")
        elif isinstance(event, Warned):
            self._line(f"warning: {event.text}")

    def _advance(self, what: str, done: int, total: int, note: str, line: str) -> None:
        """Advance a bar; without a terminal write a line if one is due."""
        if self._bar:
            if what not in self._tasks:
                self._tasks[what] = self._bar.add_task(what, total=total, note=note)
            elif self._bar.tasks[self._tasks[what]].completed > done:
                self._bar.reset(self._tasks[what])  # the same work again
            self._bar.update(self._tasks[what], completed=done, total=total, note=note)
        elif time.monotonic() - self._last_line >= _LINE_EVERY_S:
            self._last_line = time.monotonic()
            echo(line)

    def _line(self, text: str) -> None:
        if self._bar:
            self._bar.console.print(text, highlight=False)
        else:
            echo(text)


class DownloadDisplay:
    """Progress display of downloads: called with name, bytes done and total; a context manager."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._bar = (
            Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                DownloadColumn(),
                TransferSpeedColumn(),
                TimeRemainingColumn(),
                console=console,
            )
            if console.is_terminal
            else None
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> DownloadDisplay:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, name: str, done: int, total: int | None) -> None:
        """Show the progress of a file."""
        if self._bar:
            if name not in self._tasks:
                self._tasks[name] = self._bar.add_task(name, total=total)
            self._bar.update(self._tasks[name], completed=done)
        elif done == total:
            echo(f"{name}: {done:,} bytes")


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=console,
    )


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
