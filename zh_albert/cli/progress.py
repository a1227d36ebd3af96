"""Progress on standard error: bars on a terminal, a line every ten seconds elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Self, TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
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


def tell_if_nothing_resumes(out: Path, *, resume: bool) -> None:
    """Say so where ``--resume`` finds no run, as in a folder whose name is misspelt."""
    if resume and not (out.is_dir() and any(out.iterdir())):
        echo(f"nothing to resume in {out}: starting anew")


class Display:
    """Named bars on a terminal, nothing elsewhere; a context.

    Args:
        columns: Between a bar and its name; by default the number of items and the time.
    """

    def __init__(self, *columns: ProgressColumn) -> None:
        console = Console(stderr=True)
        self.on_terminal = console.is_terminal
        name, bar, note = _text("description"), BarColumn(bar_width=30), _text("fields[note]")
        columns = columns or (MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        self.bars = Progress(
            name, bar, *columns, note, console=console, disable=not self.on_terminal
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        self.bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bars.stop()

    def show(self, name: str, done: int, total: int | None, note: str = "") -> None:
        """Set a bar, which is added when its name is new."""
        if name not in self._tasks:
            self._tasks[name] = self.bars.add_task(name, total=total, note=note)
        elif self.bars.tasks[self._tasks[name]].completed > done:
            self.bars.reset(self._tasks[name])  # the same work again
        self.bars.update(self._tasks[name], completed=done, total=total, note=note)


def _text(field: str) -> TextColumn:
    return TextColumn(f"{{task.{field}}}", markup=False)  # "[/x]" in a path is no style


def track(items: Iterable[T], *, total: int | None, what: str) -> Iterator[T]:
    """Yield items and show their number, rate and remaining time."""
    started = last = arrived = time.monotonic()
    count = 0
    with Display() as display:
        for count, item in enumerate(items, start=1):
            now, done = time.monotonic(), count - 1
            # Answers arrive in batches: only those before this one are relevant for the rate.
            rate = done / max(1e-9, arrived - started)
            if display.on_terminal:
                display.show(what, done, total, _rate(rate))
            elif now - last >= _LINE_EVERY_S:
                last = now
                left = f", {_time((total - done) / rate)} left" if total and done else ""
                if done:
                    of_total = f" of {total:,}" if total else ""
                    echo(f"{what}: {done:,}{of_total}, {_rate(rate)}{left}")
            arrived = now
            yield item
        display.show(what, count, total)
    if not display.on_terminal:
        echo(f"{what}: {count:,} done in {_time(time.monotonic() - started)}")


class TrainingDisplay(Display):
    """Display of a run, or of work before it; an observer of ``training.events``."""

    def __init__(self) -> None:
        super().__init__()
        self._last_line = 0.0

    def __call__(self, event: Event) -> None:
        """Show the event."""
        if isinstance(event, Update):
            measured = "".join(f"{name} {value:.3f}  " for name, value in event.measured.items())
            note = (
                f"epoch {event.epoch}  loss {event.loss:.4f}  {measured}"
                f"rate {event.learning_rate:.2e}  {event.tokens_per_second:,.0f} tokens/s"
            )
            self.show("training", event.update, event.total, note)
            left = f"{_time(event.seconds_left)} left"
            self._line_if_due(f"update {event.update}/{event.total}  {note}  {left}")
        elif isinstance(event, StageProgress):
            rate = _rate(event.per_second)
            self.show(event.what, event.done, event.total, rate)
            if event.done < event.total:
                left = f"{_time(event.seconds_left)} left"
                count = f"{event.done:,} of {event.total:,}"
                self._line_if_due(f"{event.what}: {count}, {rate}, {left}")
        elif isinstance(event, Evaluation):
            scores = "  ".join(
                f"{name} {value:.4f}"
                for name, value in event.metrics.items()
                if isinstance(value, float) and name != "seconds"
            )
            best = f"  (best {event.metric})" if event.best else ""
            self._line(f"dev at {event.update}: {scores}{best}")
            if event.stopped:
                self._line(
                    f"stopped after {event.update} of {event.total} updates: no better "
                    f"{event.metric} in {event.unimproved} evaluations (train.patience)"
                )
        elif isinstance(event, Warned):
            self._line(f"warning: {event.text}")

    def _line_if_due(self, text: str) -> None:
        if not self.on_terminal and time.monotonic() - self._last_line >= _LINE_EVERY_S:
            self._last_line = time.monotonic()
            echo(text)

    def _line(self, text: str) -> None:
        if self.on_terminal:
            self.bars.console.print(text, markup=False, highlight=False)
        else:
            echo(text)


class DownloadDisplay(Display):
    """Display of downloads; called with a file's name, received bytes and total bytes."""

    def __init__(self) -> None:
        super().__init__(DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())

    def __call__(self, name: str, done: int, total: int | None) -> None:
        """Show the progress of a file."""
        self.show(name, done, total)
        if done == total and not self.on_terminal:
            echo(f"{name}: {done:,} bytes")


def _rate(per_second: float) -> str:
    """Return a rate in the unit in which it is at least 1, down to hours."""
    rates = ((per_second * seconds, unit) for seconds, unit in ((1, "s"), (60, "min")))
    rate, unit = next((found for found in rates if found[0] >= 1), (3600 * per_second, "h"))
    return f"{rate:,.{0 if rate >= 10 else 1}f}/{unit}"


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
