"""Runs that end early, by their scores on dev."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.helpers.regression import (
    CONFIG,
    Regression,
    StopAt,
    StoppedError,
    network,
    squared_error,
    weights,
)
from zh_albert.errors import ConfigError
from zh_albert.training.config import TrainConfig
from zh_albert.training.events import Evaluation, Event, Progress
from zh_albert.training.loop import train
from zh_albert.training.resume import read_run_state
from zh_albert.training.selection import BestCheckpoint

SCORES = (0.2, 0.5, 0.4, 0.6, 0.6, 0.3, 0.9)
PATIENT = replace(CONFIG, epochs=7, patience=2)  # 8 updates an epoch


def judged(scores: Iterator[float]) -> BestCheckpoint:
    return BestCheckpoint(lambda: {"f1": next(scores)}, metric="f1", keep=lambda _: None)


def test_it_ends_after_so_many_evaluations_without_a_better_score() -> None:
    seen: list[Event] = []
    selection = judged(iter(SCORES))
    run = train(
        network(),
        squared_error,
        Regression(),
        PATIENT,
        selection=selection,
        observers=[seen.append],
    )
    assert (run.update, run.best_update, run.best_score) == (48, 32, 0.6)
    assert run.finished
    assert run.stopped_early
    last = [event for event in seen if isinstance(event, Evaluation)][-1]
    assert (last.stopped, last.unimproved, last.metric) == (True, 2, "f1")


def test_of_equal_scores_the_one_with_the_lower_loss_is_kept() -> None:
    losses = iter((9.0, 8.0, 8.5, 7.0, 7.0, 6.0, 5.0))
    scores = iter((0.0, 0.0, 0.0, 0.0, 0.0, 0.1, 0.0))
    selection = BestCheckpoint(
        lambda: {"accuracy": next(scores), "loss": next(losses)},
        metric="accuracy",
        keep=lambda found: kept.append(found["loss"]),
        tie_breaker="loss",
    )
    kept: list[float] = []
    run = train(
        network(), squared_error, Regression(), replace(CONFIG, epochs=7), selection=selection
    )
    assert kept == [9.0, 8.0, 7.0, 6.0]
    assert (run.best_update, run.best_score) == (48, 0.1)


def test_weights_of_before_a_method_has_settled_are_never_kept() -> None:
    """The scores fall as a network gets sparser; the best ones are of one that is not meant."""
    scores, updates, kept = iter((0.9, 0.8, 0.5, 0.6, 0.4, 0.3, 0.2)), [0], []

    def count(update: int, _: int) -> None:
        updates[0] = update

    selection = BestCheckpoint(
        lambda: {"f1": next(scores)},
        metric="f1",
        keep=lambda _: kept.append(updates[0] + 1),
        settled=lambda: updates[0] >= 20,
    )
    run = train(
        network(), squared_error, Regression(), PATIENT, selection=selection, on_update=count
    )
    assert (run.best_update, run.best_score) == (32, 0.6)
    assert kept == [24, 32]
    assert run.update == 48  # patience counts from then on


def test_the_learning_rate_is_that_of_the_whole_run() -> None:
    rates: list[list[float]] = []
    for config in (PATIENT, replace(PATIENT, patience=None)):
        seen: list[Event] = []
        train(
            network(),
            squared_error,
            Regression(),
            config,
            selection=judged(iter(SCORES)),
            observers=[seen.append],
        )
        events = [event for event in seen if isinstance(event, Progress)]
        rates.append([event.learning_rate for event in events])
        assert all(event.total == 56 for event in events)
    assert 0 < len(rates[0]) < len(rates[1])
    assert rates[0] == rates[1][: len(rates[0])]


def test_patience_that_lasts_changes_nothing() -> None:
    made = []
    for patience in (None, 4):
        model = network()
        config = replace(PATIENT, patience=patience)
        run = train(model, squared_error, Regression(), config, selection=judged(iter(SCORES)))
        assert (run.update, run.stopped_early) == (56, False)
        made.append(weights(model))
    assert torch.equal(*made)


@pytest.mark.parametrize("update", [23, 33, 40, 47])
def test_a_resumed_run_ends_at_the_same_update_bit_for_bit(tmp_path: Path, update: int) -> None:
    straight = network()
    train(straight, squared_error, Regression(), PATIENT, selection=judged(iter(SCORES)))

    scores = iter(SCORES)
    with pytest.raises(StoppedError):
        train(
            network(),
            squared_error,
            StopAt(update),
            PATIENT,
            state_folder=tmp_path,
            selection=judged(scores),
        )
    resumed = network()
    run = train(
        resumed,
        squared_error,
        Regression(),
        PATIENT,
        state_folder=tmp_path,
        resume=True,
        selection=judged(scores),
    )
    assert run.update == 48
    assert torch.equal(weights(resumed), weights(straight))


def test_a_run_that_dies_just_after_its_end_was_decided_makes_no_further_update(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class DiedError(Exception):
        """Stands for a kill between the last two saves."""

    def die(_: Event) -> None:
        raise DiedError

    selection = judged(iter(SCORES))
    train(
        network(), squared_error, Regression(), PATIENT, state_folder=tmp_path, selection=selection
    )
    saved = read_run_state(tmp_path)
    assert saved is not None
    saved[0].finished = False
    monkeypatch.setattr("zh_albert.training.loop.read_run_state", lambda _: saved)
    run = train(
        network(),
        squared_error,
        Regression(),
        PATIENT,
        state_folder=tmp_path,
        resume=True,
        selection=judged(iter([1.0])),
        observers=[die],
    )
    assert (run.update, run.finished) == (48, True)


@pytest.mark.parametrize("patience", [0, -1])
def test_no_patience_at_all_is_refused(patience: int) -> None:
    with pytest.raises(ConfigError, match=f"patience must be > 0, got {patience}"):
        TrainConfig(patience=patience)


def test_patience_without_an_evaluation_is_refused() -> None:
    with pytest.raises(ConfigError, match="ends a run by its scores on dev examples"):
        train(network(), squared_error, Regression(), PATIENT)
