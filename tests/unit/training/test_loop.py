"""The training loop on a small regression problem."""

from __future__ import annotations

import copy
import math
import signal
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.helpers.regression import (
    CONFIG,
    Regression,
    StopAt,
    StoppedError,
    network,
    squared_error,
    weights,
)
from zh_albert.errors import ConfigError, TrainingError
from zh_albert.training.config import TrainConfig
from zh_albert.training.events import Event, Progress, Warned
from zh_albert.training.loop import UNITS, Batch, LossOutput, resolved, train
from zh_albert.training.resume import RunState, read_run_state
from zh_albert.training.selection import BestCheckpoint


@pytest.mark.parametrize(("updates", "epochs"), [(1, 10), (8, 10), (10, 8), (30, 4), (5000, 4)])
def test_epochs_depend_on_how_many_texts_there_are(updates: int, epochs: int) -> None:
    assert TrainConfig(epochs="auto").epochs_of(updates) == epochs
    assert TrainConfig(epochs=2).epochs_of(updates) == 2


def test_so_do_they_on_how_many_processes_share_them(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forty:
        def plan(self, epoch: int) -> range:
            return range(40)

        def load(self, item: int) -> Batch:
            return Batch({}, weight=1, tokens=1)

    config = TrainConfig(epochs="auto")
    assert resolved(config, Forty()).epochs == 4
    monkeypatch.setenv("WORLD_SIZE", "4")
    assert resolved(config, Forty()).epochs == 8


def test_a_batch_with_nothing_to_learn_from_counts_as_nothing() -> None:
    """A line of a script that the vocabulary lacks: no token of it can be masked."""

    class HalfEmpty(Regression):
        def load(self, item: list[int]) -> Batch:
            batch = super().load(item)
            if self.loads % 2:
                return batch
            return Batch({name: x[:0] for name, x in batch.inputs.items()}, weight=0, tokens=5)

    model, said = network(), list[Event]()
    train(model, squared_error, HalfEmpty(), replace(CONFIG, epochs=30), observers=[said.append])
    assert squared_error(model, Regression().load(list(range(40))).inputs).loss / 40 < 0.5
    assert isinstance(said[-1], Progress)
    assert math.isfinite(said[-1].loss)


@pytest.mark.parametrize("optimizer", ["adamw", "lamb"])
def test_it_learns(optimizer: str) -> None:
    model = network()
    config = TrainConfig(epochs=30, peak_lr=0.05, optimizer=optimizer)  # type: ignore[arg-type]
    before = squared_error(model.eval(), Regression().load(list(range(40))).inputs).loss.item()
    train(model, squared_error, Regression(), config)
    after = squared_error(model, Regression().load(list(range(40))).inputs).loss.item()
    assert after < before / 10
    assert not model.training


def test_accumulated_uneven_batches_equal_one_large_batch() -> None:
    config = TrainConfig(epochs=2, peak_lr=0.05, clip_norm=0, precision="fp32")
    large, small = network().eval(), network().eval()
    for module in (*large.modules(), *small.modules()):
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    train(large, squared_error, Regression(batch_size=12), config)

    class Uneven(Regression):
        def plan(self, epoch: int) -> list[list[int]]:
            parts = []
            for batch in Regression(batch_size=12).plan(epoch):
                parts += [batch[:1], batch[1:]]
            return parts

    train(small, squared_error, Uneven(), replace(config, accumulation=2))
    torch.testing.assert_close(weights(small), weights(large), rtol=1e-4, atol=1e-6)


def test_the_best_weights_are_kept_not_the_last() -> None:
    scores = iter([0.2, 0.9, 0.5])
    kept: list[tuple[float, Tensor]] = []
    model = network()
    selection = BestCheckpoint(
        evaluate=lambda: {"accuracy": next(scores)},
        metric="accuracy",
        keep=lambda metrics: kept.append((metrics["accuracy"], weights(model))),
    )
    config = TrainConfig(epochs=3, peak_lr=0.01)
    position = train(model, squared_error, Regression(), config, selection=selection)
    assert [score for score, _ in kept] == [0.2, 0.9]
    assert position.best_score == 0.9
    assert position.best_update == 16
    assert not torch.equal(kept[-1][1], weights(model))


def test_the_log_shows_what_the_objective_measures_and_tokens_read() -> None:
    seen: list[Event] = []
    position = train(network(), squared_error, Regression(), CONFIG, observers=[seen.append])
    last = [event for event in seen if isinstance(event, Progress)][-1]
    assert last.tokens == position.tokens == 6 * 40
    assert 0 < last.measured["absolute_error"] < 10


@pytest.mark.slow
def test_a_compiled_model_learns_the_same() -> None:
    torch.manual_seed(0)
    plain = nn.Linear(3, 1)  # no dropout: compiled, it draws other numbers
    compiled = copy.deepcopy(plain)
    config = replace(CONFIG, epochs=1)
    train(plain, squared_error, Regression(), config)
    train(compiled, squared_error, Regression(), replace(config, compile=True))
    torch.testing.assert_close(weights(compiled), weights(plain), rtol=1e-3, atol=1e-4)


def test_ctrl_c_saves_and_ends_between_updates(tmp_path: Path) -> None:
    class PressCtrlC(Regression):
        def load(self, item: list[int]) -> Batch:
            if self.loads == 4:
                signal.raise_signal(signal.SIGINT)
            return super().load(item)

    config = TrainConfig(epochs=6, peak_lr=0.05)  # would save by itself only after a minute
    with pytest.raises(KeyboardInterrupt):
        train(network(), squared_error, PressCtrlC(), config, state_folder=tmp_path)
    saved = read_run_state(tmp_path)
    assert saved is not None
    assert saved[0].update == 5
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_training_works_outside_the_main_thread() -> None:
    results: list[RunState] = []
    thread = threading.Thread(
        target=lambda: results.append(train(network(), squared_error, Regression(), CONFIG))
    )
    thread.start()
    thread.join()
    assert results[0].finished


def test_a_loss_that_is_no_number_ends_with_advice() -> None:
    def broken(model: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
        return LossOutput(squared_error(model, inputs).loss * float("nan"))

    with pytest.raises(TrainingError, match=r"diverged; lower the rate \(peak_lr="):
        train(network(), broken, Regression(), CONFIG)


def test_no_data_is_an_error_not_a_silent_success() -> None:
    class Nothing(Regression):
        def plan(self, epoch: int) -> list[list[int]]:
            return []

    with pytest.raises(ConfigError, match="nothing to train on"):
        train(network(), squared_error, Nothing(), CONFIG)


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("precision", ["auto", "bf16", "fp32"])
def test_bf16_is_taken_where_it_is_fast_and_warned_of_where_it_is_not(
    native: bool, precision: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zh_albert.training.precision.is_bf16_faster", lambda: native)
    computed: set[torch.dtype] = set()
    told: list[Event] = []

    def watched(model: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
        computed.add(model[1](model[0](inputs["x"])).dtype)  # type: ignore[index]
        return squared_error(model, inputs)

    config = replace(CONFIG, precision=precision, max_updates=2)
    train(network(), watched, Regression(), config, observers=[told.append])
    in_bf16 = precision == "bf16" or (precision == "auto" and native)
    assert computed == {torch.bfloat16 if in_bf16 else torch.float32}
    warned = [event.text for event in told if isinstance(event, Warned)]
    assert bool(warned) == (in_bf16 and not native)
    assert all("slows training down; leave the setting out" in text for text in warned)


@pytest.mark.parametrize("settings", [{}, {"accumulation": 3}, {"max_updates": 11}])
def test_what_changes_with_time_is_told_before_each_update(settings: dict[str, Any]) -> None:
    source, said = Regression(), list[Event]()
    told: list[tuple[int, int, int]] = []

    def on_update(update: int, total: int) -> None:
        told.append((update, total, source.loads))

    config = replace(CONFIG, epochs=3, **settings)
    end = train(
        network(), squared_error, source, config, observers=[said.append], on_update=on_update
    )

    assert [update for update, _, _ in told] == list(range(end.update))
    assert {total for _, total, _ in told} == {end.update}
    loads = [loads for _, _, loads in told]
    assert loads[0] == 0
    assert loads == sorted(set(loads))
    assert loads[-1] < source.loads  # before the batches of its update, not after


def test_a_resumed_run_is_told_only_of_the_updates_it_makes(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    listen: dict[str, Any] = {"state_folder": tmp_path, "on_update": lambda *now: told.append(now)}
    with pytest.raises(StoppedError):
        train(network(), squared_error, StopAt(10), CONFIG, **listen)
    assert told == [(update, 48) for update in range(11)]  # the last one died in its batch
    told.clear()
    train(network(), squared_error, Regression(), CONFIG, resume=True, **listen)
    assert told == [(update, 48) for update in range(10, 48)]


def test_an_objective_knows_what_its_batch_counts() -> None:
    counted = []

    def noting(module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
        counted.append(inputs[UNITS].item())
        return squared_error(module, inputs)

    train(network(), noting, Regression(batch_size=15), replace(CONFIG, epochs=1))
    assert counted == [15, 15, 10]
