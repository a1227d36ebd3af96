"""The files of a training run, made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from zh_albert.training.events import Evaluation, MetricsFile, Progress, Warned


def write_run(folder: Path, *, accuracy: float = 0.2) -> Path:
    """Let the loop's own observer write a run of 20 updates, evaluated after every tenth."""
    listen = MetricsFile(folder / "training" / "metrics.jsonl", resumed_update=0)
    left: dict[str, Any] = {"learning_rate": 1e-3, "tokens_per_second": 5.0, "seconds": 1.0}
    for update in range(1, 21):
        read = 1_000 * update
        event = Progress(
            update=update,
            total=20,
            epoch=0,
            tokens=read,
            loss=8.0 - update / 10,
            measured={"masked_accuracy": accuracy / 2},
            seconds_left=0.0,
            **left,
        )
        listen(event)
        if update % 10 == 0:
            metrics = {"masked_accuracy": accuracy * update / 20, "seconds": 3.0}
            listen(Evaluation(update=update, total=20, tokens=read, metrics=metrics))
    listen(Warned(update=20, text="…"))
    return folder
