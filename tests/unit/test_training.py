"""The loop on a small regression problem: no encoder needed to see whether it is right."""

from __future__ import annotations

import contextlib
import copy
import json
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
from zh_albert.errors import CheckpointError, ConfigError, TrainingError
from zh_albert.training.config import TrainConfig
from zh_albert.training.events import ChanceWatch, Evaluation, Event, MetricsFile, Progress, Warned
from zh_albert.training.loop import Batch, BestCheckpoint, LossOutput, train
from zh_albert.training.optim import Lamb, build_optimizer
from zh_albert.training.resume import STATE_FILE, RunState, read_run_state, save_state
from zh_albert.training.schedule import learning_rate


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


@pytest.mark.parametrize("update", [1, 7, 8, 9, 23])  # 8 updates an epoch
@pytest.mark.parametrize("optimizer", ["adamw", "lamb"])
def test_stopped_and_resumed_equals_never_stopped_bit_for_bit(
    tmp_path: Path, update: int, optimizer: str
) -> None:
    config = replace(CONFIG, optimizer=optimizer)
    straight = network()
    train(straight, squared_error, Regression(), config)

    with pytest.raises(StoppedError):
        train(network(), squared_error, StopAt(update), config, state_folder=tmp_path)
    position = read_run_state(tmp_path)
    assert position is not None
    assert position[0].update == update
    resumed = network()
    torch.manual_seed(99)  # the state of the generator must not matter
    train(resumed, squared_error, Regression(), config, state_folder=tmp_path, resume=True)

    assert torch.equal(weights(resumed), weights(straight))


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


def test_resuming_with_other_settings_is_refused(tmp_path: Path) -> None:
    train(network(), squared_error, Regression(), CONFIG, state_folder=tmp_path, settings="lr = 1")
    with pytest.raises(ConfigError, match=r"then: lr = 1, now: lr = 2"):
        train(
            network(),
            squared_error,
            Regression(),
            CONFIG,
            state_folder=tmp_path,
            settings="lr = 2",
            resume=True,
        )


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


def test_a_full_disk_keeps_the_state_saved_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno
    import os

    model = network()
    optimizer = build_optimizer(model, CONFIG)
    save_state(tmp_path, model, optimizer, RunState(update=3), "")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CheckpointError, match="No space left on device"):
        save_state(tmp_path, model, optimizer, RunState(update=4), "")
    saved = read_run_state(tmp_path)
    assert saved is not None
    assert saved[0].update == 3
    assert [path.name for path in tmp_path.iterdir()] == [STATE_FILE]


def test_a_damaged_state_is_said(tmp_path: Path) -> None:
    (tmp_path / STATE_FILE).write_bytes(b"\x10\x00\x00")
    with pytest.raises(CheckpointError, match="delete it to start over"):
        read_run_state(tmp_path)


@pytest.mark.parametrize("part", ["exp_avg_sq", "exp_avg", ""])
def test_an_optimizer_that_is_not_whole_is_said(tmp_path: Path, part: str) -> None:
    from safetensors import safe_open
    from safetensors.torch import load_file, save_file

    config = replace(CONFIG, max_updates=2)
    train(network(), squared_error, Regression(), config, state_folder=tmp_path)
    path = tmp_path / STATE_FILE
    with safe_open(path, framework="pt") as file:
        header = file.metadata()
    tensors = load_file(path)
    name = next(name for name in tensors if name.endswith(f"weight.{part or 'exp_avg'}"))
    if part == "exp_avg":
        tensors[name] = torch.zeros(5)
    else:  # one tensor, or all that the optimizer had
        gone = [name] if part else [name for name in tensors if name.startswith("optimizer.")]
        tensors = {name: tensor for name, tensor in tensors.items() if name not in gone}
    save_file(tensors, path, header)
    more = replace(CONFIG, max_updates=4)
    with pytest.raises(CheckpointError, match=r"damaged: .* delete it to start over"):
        train(network(), squared_error, Regression(), more, state_folder=tmp_path, resume=True)


def test_a_run_that_dies_while_its_last_weights_are_kept_goes_on_with_that(tmp_path: Path) -> None:
    def die(_: object) -> None:
        raise StoppedError

    model, kept = network(), list[Tensor]()
    for keep in (die, lambda _: kept.append(weights(model))):
        with contextlib.suppress(StoppedError):
            train(
                model,
                squared_error,
                Regression(),
                CONFIG,
                state_folder=tmp_path,
                resume=True,
                selection=BestCheckpoint(None, metric="", keep=keep),
            )
    straight = network()
    train(straight, squared_error, Regression(), CONFIG)
    assert torch.equal(kept[0], weights(straight))


def test_a_warning_of_every_start_is_written_once(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    for update in (0, 5):
        file = MetricsFile(path, resumed_update=update)
        file(Warned(update=0, text="long windows"))
        file(Evaluation(update=update, total=9))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["event"] for row in rows] == ["warned", "evaluation", "evaluation"]


def test_the_metrics_file_of_a_resumed_run_reads_as_if_never_stopped(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    file = MetricsFile(path, resumed_update=0)
    for update in (1, 2, 3):
        file(Evaluation(update=update, total=9, metrics={"accuracy": update / 10}))
    with path.open("ab") as cut:
        cut.write('{"event": "注'.encode()[:-1])
    file = MetricsFile(path, resumed_update=2)
    file(Evaluation(update=3, total=9, metrics={"accuracy": 0.5}))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(row["update"], row["metrics"]["accuracy"]) for row in rows] == [
        (1, 0.1),
        (2, 0.2),
        (3, 0.5),
    ]


def progress(update: int, loss: float) -> Progress:
    return Progress(
        update=update,
        total=100,
        epoch=0,
        tokens=2048 * update,
        loss=loss,
        learning_rate=1e-3,
        tokens_per_second=1.0,
        seconds=1.0,
        seconds_left=1.0,
    )


def test_staying_at_chance_is_said_once_with_advice() -> None:
    said: list[Event] = []
    watch = ChanceWatch(0.693, 1e-3, said.append)
    for update in range(1, 60):
        watch(progress(update, 0.694))
    assert len(said) == 1
    assert isinstance(said[0], Warned)
    assert "guessing gives 0.693" in said[0].text
    assert "peak_lr=3.3e-04" in said[0].text


def test_learning_is_not_warned_of() -> None:
    said: list[Event] = []
    watch = ChanceWatch(0.693, 1e-3, said.append)
    for update in range(1, 60):
        watch(progress(update, 0.7 - update / 100))
    assert not said


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


def test_tensorboard_gets_the_scalars(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    from zh_albert.training.events import TensorBoard

    board = TensorBoard(tmp_path)
    board(progress(1, 0.5))
    board(Evaluation(update=1, total=9, metrics={"accuracy": 0.25}))
    read = EventAccumulator(str(tmp_path))
    read.Reload()
    assert read.Scalars("train/loss")[0].value == 0.5
    assert read.Scalars("dev/accuracy")[0].value == 0.25


@pytest.mark.parametrize(
    ("decay", "expected"),
    [
        ("linear", [0.5, 1, 1, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125]),
        ("polynomial", [0.5, 1, 1, 0.766, 0.5625, 0.391, 0.25, 0.141, 0.0625, 0.0156]),
        ("constant", [0.5, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
    ],
)
def test_the_rate_warms_up_and_decays(decay: str, expected: list[float]) -> None:
    config = TrainConfig(peak_lr=1.0, warmup=0.2, decay=decay)  # type: ignore[arg-type]
    rates = [learning_rate(config, update, 10) for update in range(10)]
    assert rates == pytest.approx(expected, abs=1e-3)


def test_a_lamb_step_has_the_length_of_its_tensor() -> None:
    weight = nn.Parameter(torch.tensor([[3.0, 4.0]]))
    optimizer = Lamb([weight], lr=0.1, weight_decay=0.0)
    weight.grad = torch.tensor([[100.0, -100.0]])
    before = weight.detach().clone()
    optimizer.step()
    # |w| = 5, so a step of lr 0.1 moves by 0.5, along the sign of the gradient.
    expected = before - 0.1 * 5.0 * torch.tensor([[1.0, -1.0]]) / 2**0.5
    torch.testing.assert_close(weight.detach(), expected, rtol=1e-4, atol=1e-4)


def test_only_matrices_are_decayed() -> None:
    groups = build_optimizer(network(), CONFIG).param_groups
    assert [(len(g["params"]), g["weight_decay"]) for g in groups] == [(2, 0.01), (2, 0.0)]
