"""Events of a run and their observers: metrics file, TensorBoard, check for a loss at chance level.

The training loop only calls observers. The command line adds a progress display, the demo page its
curves.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from zh_albert.errors import MissingExtraError
from zh_albert.files.textio import atomic_write, results_json


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Event after an update; losses and measurements are averages since the last such event."""

    update: int
    total: int
    epoch: int
    tokens: int  # read so far
    loss: float
    measured: Mapping[str, float] = field(default_factory=dict)  # by the first process
    learning_rate: float
    tokens_per_second: float
    seconds: float  # of training so far, over all resumed runs
    seconds_left: float


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Event after an evaluation; ``best`` if it is the best so far, by ``metric``."""

    update: int
    total: int
    tokens: int = 0  # read so far
    metrics: Mapping[str, float] = field(default_factory=dict)
    best: bool = False
    metric: str = ""
    unimproved: int = 0  # evaluations since the best one
    stopped: bool = False  # the run ends here, before ``total``: patience is exhausted


@dataclass(frozen=True, kw_only=True)
class Warned:
    """Warning that asks the user to act."""

    update: int
    text: str


@dataclass(frozen=True, kw_only=True)
class StageProgress:
    """Event during work other than updates: preparation before training, scoring on dev."""

    update: int = 0
    what: str  # name of the work, for display
    done: int
    total: int
    per_second: float
    seconds_left: float


Event = StageProgress | Progress | Evaluation | Warned
Observer = Callable[[Event], None]


class MetricsFile:
    """Append every event to ``metrics.jsonl``.

    A loss that is not finite is null, as JSON has no other number for it.
    A resumed run drops the lines after the state it starts from, so the file reads as if the run
    had never stopped.
    """

    def __init__(self, path: Path, *, resumed_update: int) -> None:
        self._path = path
        self._warned: set[str] = set()
        kept = []
        if path.exists():
            for line in path.read_bytes().splitlines(keepends=True):
                try:
                    row = json.loads(line)
                except ValueError:  # a line cut by a kill, possibly within a character
                    continue
                if row["update"] <= resumed_update:
                    kept.append(line)
                    if row["event"] == "warned":
                        self._warned.add(row["text"])
        with atomic_write(path) as file:
            file.write(b"".join(kept))

    def __call__(self, event: Event) -> None:
        """Write one line; the file is opened each time, so that nothing is lost in a buffer.

        A warning that is repeated whenever the run is resumed is written once.
        """
        if isinstance(event, Warned):
            if event.text in self._warned:
                return
            self._warned.add(event.text)
        name = "stage" if isinstance(event, StageProgress) else type(event).__name__.lower()
        row = {"event": name, **asdict(event)}
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(results_json(row) + "\n")
        except OSError as error:  # that of a full disk names no file
            raise OSError(error.errno, error.strerror, str(self._path)) from error


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


TASK_LOSS = "task_loss"  # measured where the loss has further terms: a teacher's, of open gates

_MIN_UPDATES = 50  # a loss at chance level is no warning sign earlier, but at the end of a run
_FEWEST = 15  # updates of a run that could have learned something
_PATIENCE = 0.25  # fraction of a run after which its loss must be below chance level


class ChanceWatch:
    """Warn when the loss stays at chance level, and suggest what usually helps.

    Args:
        chance_loss: Loss of always predicting the label frequencies (their entropy, in nats).
        peak_lr: Learning rate, used in the suggestion.
        progress: Observer that receives the warning.
    """

    def __init__(self, chance_loss: float, peak_lr: float, progress: Observer) -> None:
        self._chance, self._peak_lr, self._progress = chance_loss, peak_lr, progress
        self._smoothed = math.nan
        self._warned = False

    def __call__(self, event: Event) -> None:
        """Update the smoothed loss and warn if it is due."""
        if not isinstance(event, Progress) or self._warned:
            return
        loss = event.measured.get(TASK_LOSS, event.loss)
        old = loss if math.isnan(self._smoothed) else self._smoothed
        self._smoothed = 0.7 * old + 0.3 * loss
        due = min(max(_PATIENCE * event.total, _MIN_UPDATES), event.total)
        if event.update >= max(due, _FEWEST) and self._smoothed > 0.98 * self._chance:
            self._warned = True
            longer = "" if event.total > _MIN_UPDATES else "more updates (train.epochs), "
            text = (
                f"after {event.update} of {event.total} updates the loss is {self._smoothed:.3f}; "
                f"guessing gives {self._chance:.3f}: the model is not learning. Try {longer}"
                f"a lower rate (peak_lr={self._peak_lr / 3:.1e}), a longer warm-up (warmup=0.2), "
                "or check that labels belong to their texts"
            )
            self._progress(Warned(update=event.update, text=text))
