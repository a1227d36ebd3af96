"""Runs that are stopped and go on, bit for bit."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.helpers.regression import (
    CONFIG,
    Regression,
    StopAt,
    StoppedError,
    network,
    squared_error,
    weights,
)
from zh_albert.errors import CheckpointError, ConfigError
from zh_albert.training.loop import train
from zh_albert.training.optim import build_optimizer
from zh_albert.training.resume import STATE_FILE, RunState, read_run_state, save_state
from zh_albert.training.selection import BestCheckpoint


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


def test_a_full_disk_keeps_the_state_saved_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

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


@pytest.mark.parametrize(
    "position",
    ["[" * 10**5, "[1]", '{"update": "x"}', '{"update": 1, "more": 2}', '{"best_metrics": [1]}'],
)
def test_a_position_that_is_none_is_said(tmp_path: Path, position: str) -> None:
    from safetensors.torch import save_file

    header = {"position": position, "settings": ""}
    save_file({"a": torch.zeros(1)}, tmp_path / STATE_FILE, metadata=header)
    with pytest.raises(CheckpointError, match="delete it to start over"):
        read_run_state(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
def test_a_pipe_in_place_of_the_state_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / STATE_FILE)
    with pytest.raises(CheckpointError, match="expected a regular file, found a pipe"):
        read_run_state(tmp_path)
