"""What a run tells while it runs, and who listens: the metrics file, TensorBoard, chance watch.

The loop knows only that observers are called; the command line adds a progress display, a demo
page its curves.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from zh_albert.errors import MissingExtraError
from zh_albert.textio import atomic_write


@dataclass(frozen=True, kw_only=True)
class Progress:
    """After an update. Losses and what else is measured are averages since the last event."""

    update: int
    total: int
    epoch: int
    tokens: int  # read so far
    loss: float
    measured: Mapping[str, float] = field(default_factory=dict)  # of the first process
    learning_rate: float
    tokens_per_second: float
    seconds: float  # of training so far, all starts together
    seconds_left: float


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """After an evaluation; ``best`` if it is the best so far."""

    update: int
    total: int
    tokens: int = 0  # read so far
    metrics: Mapping[str, float] = field(default_factory=dict)
    best: bool = False


@dataclass(frozen=True, kw_only=True)
class Warned:
    """Something a user should know and do."""

    update: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Stage:
    """While something else than updates is done: what they need first, or scores on dev."""

    update: int = 0
    what: str  # what is being done, to be shown
    done: int
    total: int
    per_second: float
    seconds_left: float


Event = Stage | Progress | Evaluation | Warned
Observer = Callable[[Event], None]


class MetricsFile:
    """Append every event to ``metrics.jsonl``.

    A resumed run drops what was written after the state it starts from, so the file reads as if
    the run had never stopped.
    """

    def __init__(self, path: Path, *, resumed_update: int) -> None:
        self._path = path
        self._warned: set[str] = set()
        kept = []
        if path.exists():
            for line in path.read_bytes().splitlines(keepends=True):
                try:
                    row = json.loads(line)
                except ValueError:  # a line cut by a kill, perhaps within a character
                    continue
                if row["update"] <= resumed_update:
                    kept.append(line)
                    if row["event"] == "warned":
                        self._warned.add(row["text"])
        with atomic_write(path) as file:
            file.write(b"".join(kept))

    def __call__(self, event: Event) -> None:
        """Write one line; opened each time, so that nothing is lost in a buffer.

        A warning that every start of a run gives is written once.
        """
        if isinstance(event, Warned):
            if event.text in self._warned:
                return
            self._warned.add(event.text)
        row = {"event": type(event).__name__.lower(), **asdict(event)}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


class TensorBoard:
    """Write scalars for TensorBoard (extra ``track``)."""

    def __init__(self, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415  (an extra)
        except ImportError:
            raise MissingExtraError.of("tensorboard", "track") from None
        self._writer = SummaryWriter(str(folder))

    def __call__(self, event: Event) -> None:
        """Write the event's numbers."""
        if isinstance(event, Progress):
            scalars: Mapping[str, float] = {
                "train/loss": event.loss,
                "train/learning_rate": event.learning_rate,
                "train/tokens_per_second": event.tokens_per_second,
                **{f"train/{name}": value for name, value in event.measured.items()},
            }
        elif isinstance(event, Evaluation):
            scalars = {f"dev/{name}": value for name, value in event.metrics.items()}
        else:
            return
        for name, value in scalars.items():
            self._writer.add_scalar(name, value, event.update)
        self._writer.flush()


_MIN_UPDATES = 50  # before that, not having learned means nothing


class ChanceWatch:
    """Say so when training stays where guessing would be, and what usually helps.

    Args:
        chance_loss: The loss of always answering with the label frequencies (their entropy, nats).
        peak_lr: Named in the advice.
        progress: Receives the warning; an observer.
        patience: Share of the run after which the loss must have left chance.
    """

    def __init__(
        self, chance_loss: float, peak_lr: float, progress: Observer, *, patience: float = 0.25
    ) -> None:
        self._chance, self._peak_lr = chance_loss, peak_lr
        self._say, self._patience = progress, patience
        self._smoothed = math.nan
        self._said = False

    def __call__(self, event: Event) -> None:
        """Watch the smoothed loss."""
        if not isinstance(event, Progress) or self._said:
            return
        old = event.loss if math.isnan(self._smoothed) else self._smoothed
        self._smoothed = 0.7 * old + 0.3 * event.loss
        due = max(self._patience * event.total, _MIN_UPDATES)
        if event.update >= due and self._smoothed > 0.98 * self._chance:
            self._said = True
            text = (
                f"after {event.update} of {event.total} updates the loss is {self._smoothed:.3f}; "
                f"guessing gives {self._chance:.3f}: nothing is being learned. Try a lower rate "
                f"(peak_lr={self._peak_lr / 3:.1e}), a longer warm-up (warmup=0.2), or check that "
                "labels belong to their texts"
            )
            self._say(Warned(update=event.update, text=text))
