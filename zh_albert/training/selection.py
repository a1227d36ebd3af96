"""The choice of the weights to keep, and the end of runs that get no better."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from zh_albert.errors import ConfigError
from zh_albert.training.config import TrainConfig
from zh_albert.training.events import Evaluation, Observer
from zh_albert.training.resume import RunState


@dataclass(frozen=True)
class BestCheckpoint:
    """Evaluation and the choice of the weights to keep.

    Attributes:
        evaluate: Returns the dev metrics of the model as it is now. None: the last weights are
            taken.
        metric: The one that decides; higher is better.
        keep: Called with the metrics, while the model holds the best weights so far; without
            ``evaluate`` once, at the end. It comes before the run is said to be finished, so a
            run that dies in it goes on with it.
    """

    evaluate: Callable[[], Mapping[str, float]] | None
    metric: str
    keep: Callable[[Mapping[str, float]], None]
    tie_breaker: str = ""
    """Of equal scores the one with less of this metric is better: a coarse score may stay the same
    while a loss still falls."""
    settled: Callable[[], bool] = lambda: True
    """Whether the weights may be kept now: not before a network has become as sparse, or as coarse,
    as it is to be."""


def refuse_blind_patience(config: TrainConfig, evaluates: bool) -> None:
    """Check that a run which may be ended early has something to be judged by.

    Raises:
        ConfigError: If it has not.
    """
    if config.patience is not None and not evaluates:
        raise ConfigError(
            f"train.patience={config.patience} ends a run by its scores on dev examples, and there "
            "are none: give some, or leave it out"
        )


def record(
    selection: BestCheckpoint,
    found: Mapping[str, float],
    position: RunState,
    config: TrainConfig,
    total: int,
    listeners: Sequence[Observer],
) -> None:
    """Record an evaluation: whether it is the best, and whether the run ends with it.

    Args:
        selection: What decides, and keeps the weights.
        found: Its metrics.
        position: Changed in place.
        config: Its ``patience`` is used.
        total: Updates of the whole run.
        listeners: Called with the event.
    """
    metrics = dict(found)
    score = metrics[selection.metric]
    settled = selection.settled()
    tied = score == position.best_score and selection.tie_breaker in metrics
    better = position.best_score is None or (
        metrics[selection.tie_breaker] < position.best_metrics[selection.tie_breaker]
        if tied
        else score > position.best_score
    )
    best = settled and better
    if best:
        position.best_score, position.best_update = score, position.update
        position.best_metrics = metrics
    position.unimproved = 0 if best or not settled else position.unimproved + 1
    exhausted = config.patience is not None and position.unimproved >= config.patience
    position.stopped_early = exhausted and position.update < total
    event = Evaluation(
        update=position.update,
        total=total,
        tokens=position.tokens,
        metrics=metrics,
        best=best,
        metric=selection.metric,
        unimproved=position.unimproved,
        stopped=position.stopped_early,
    )
    for listener in listeners:
        listener(event)
    if best:  # after the event: what is kept may tell the run's history
        selection.keep(metrics)
