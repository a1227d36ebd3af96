"""The training loop, on accelerate: the one place that calls ``backward()``.

Started by ``torchrun`` it runs on several processes or machines with the same result as one
process with as much more accumulation.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import torch
from accelerate import Accelerator
from torch import Tensor, nn

from zh_albert.errors import ConfigError, TrainingError
from zh_albert.training.config import TrainConfig
from zh_albert.training.events import Observer, Warned
from zh_albert.training.interrupt import stop_requests
from zh_albert.training.meter import Figures, Meter, add_figure
from zh_albert.training.optim import build_optimizer
from zh_albert.training.precision import SLOW_BF16, computes_faster_in_bf16, settled
from zh_albert.training.resume import (
    RunState,
    load_state,
    read_run_state,
    refuse_changed,
    save_state,
    seed_torch,
)
from zh_albert.training.schedule import learning_rate
from zh_albert.training.selection import BestCheckpoint, record, refuse_blind_patience


@dataclass(frozen=True)
class Batch:
    """One forward pass.

    Attributes:
        inputs: Tensors for the objective.
        weight: What the summed loss is divided by, together with the update's other batches
            (examples, masked positions); so uneven batches count as in one big one.
        tokens: For the rate shown; padding not counted.
    """

    inputs: dict[str, Tensor]
    weight: float
    tokens: int


class BatchSource(Protocol):
    """Training data in an order that depends on the epoch and a seed alone."""

    def plan(self, epoch: int) -> Sequence[Any]:
        """Return what identifies each batch of the epoch; the same on every process."""
        ...

    def load(self, item: Any) -> Batch:
        """Make the batch that ``item`` identifies."""
        ...


class LossOutput(NamedTuple):
    """The result of an objective for one batch."""

    loss: Tensor
    """Summed over what ``Batch.weight`` counts. Shape: ()."""
    measured: Mapping[str, tuple[Tensor, int | None]] = MappingProxyType({})
    """Further figures for the log: name → their sum, without gradient, and what it is of; None: of
    what ``Batch.weight`` counts."""


Objective = Callable[[nn.Module, dict[str, Tensor]], LossOutput]

UNITS = "units"
"""Input of objectives that holds ``Batch.weight``: the loop divides by it, so added means are
multiplied by it.
"""


def is_first_process() -> bool:
    """Return whether this process writes files: the only one, or the first of torchrun."""
    return int(os.environ.get("RANK", "0")) == 0


def resolved(config: TrainConfig, source: BatchSource) -> TrainConfig:
    """Return settings without "auto": for this machine, this data and so many processes."""
    width = config.accumulation * int(os.environ.get("WORLD_SIZE", "1"))
    epochs = config.epochs_of(math.ceil(len(source.plan(0)) / width))
    return replace(settled(config), epochs=epochs)


def train(  # noqa: PLR0912, PLR0915  (the loop reads best in one piece)
    model: nn.Module,
    objective: Objective,
    source: BatchSource,
    config: TrainConfig,
    *,
    state_folder: Path | None = None,
    settings: str = "",
    resume: bool = False,
    selection: BestCheckpoint | None = None,
    observers: Sequence[Observer] = (),
    on_update: Callable[[int, int], None] = lambda _update, _total: None,
    leaves_unused: bool = False,
) -> RunState:
    """Train ``model`` in place and return where the run ended.

    Args:
        model: Left in evaluation mode, on the device it was trained on.
        objective: ``(model, inputs)`` → the batch's loss and what else the log shows.
        source: Where batches come from.
        config: See there.
        state_folder: Where the resumable state is kept; None keeps none. Several machines need
            it on a disk they share.
        settings: The job's resolved settings; ``resume`` refuses to go on with others.
        resume: Go on from the state, if there is one. On a CPU the weights come out bit for bit
            as if the run had never stopped.
        selection: Evaluated every ``evaluate_every`` updates or at each epoch's end.
        observers: Called on the first process only.
        on_update: Called on every process before each update, with the updates made so far and
            their total: what depends on the time changes here (a replacement rate, a mask).
        leaves_unused: Whether updates leave parameters without a gradient, the same on all
            processes; see ``training.method``.

    Raises:
        ConfigError: If there is nothing to train on, the settings changed before ``resume``, or
            there is ``patience`` without an evaluation.
        TrainingError: If the loss is no longer a number.
        KeyboardInterrupt: After Ctrl-C, once the state is saved.
    """
    refuse_blind_patience(config, selection is not None and selection.evaluate is not None)
    accelerator = Accelerator(cpu=not torch.cuda.is_available())
    config = resolved(config, source)
    assert config.epochs != "auto"
    width = config.accumulation * accelerator.num_processes  # batches of one update
    counts = [math.ceil(len(source.plan(epoch)) / width) for epoch in range(config.epochs)]
    total = min(sum(counts), config.max_updates or sum(counts))
    if total == 0 and config.epochs:
        raise ConfigError("there is nothing to train on: the training data gives no batch")

    if accelerator.num_processes > 1:  # the position in the data counts their batches
        settings += f"# processes {accelerator.num_processes}\n"
    optimizer = build_optimizer(model, config)
    position = RunState()
    if resume and state_folder is not None and (saved := read_run_state(state_folder)):
        position, old_settings = saved
        refuse_changed(old_settings, settings)
        load_state(state_folder, model, optimizer)
    wrapped, prepared = accelerator.prepare(model, optimizer)
    if config.compile:
        wrapped = torch.compile(wrapped)
    listeners = observers if accelerator.is_main_process else ()
    meter = Meter(position, total, listeners)
    if config.precision == "bf16" and not computes_faster_in_bf16():
        for listener in listeners:
            listener(Warned(update=position.update, text=SLOW_BF16))

    def save() -> None:
        if state_folder is not None and accelerator.is_main_process:
            save_state(state_folder, model, optimizer, position, settings)

    def assess() -> None:
        if selection and selection.evaluate and accelerator.is_main_process:
            model.eval()
            record(selection, selection.evaluate(), position, config, total, listeners)
            model.train()
        # Only the first process evaluates; all stop after the same update.
        position.stopped_early = _summed(accelerator, float(position.stopped_early)) > 0
        accelerator.wait_for_everyone()

    model.train()
    last_save = time.monotonic()
    with stop_requests() as stop_requested:
        for items, epoch_done in _remaining(source, width, position, total):
            on_update(position.update, total)
            rate = learning_rate(config, position.update, total)
            for group in prepared.param_groups:
                group["lr"] = rate
            figures, tokens = _update(
                *(accelerator, wrapped, prepared, objective, source, items, config),
                position.update,
                leaves_unused=leaves_unused,
            )
            # All processes stop after the same update, whichever of them was asked.
            stop = _summed(accelerator, float(stop_requested())) > 0
            position.advance(tokens, epoch_done=epoch_done)
            done = position.update == total
            meter.count(figures, tokens, rate, done=done)
            every = config.evaluate_every
            if done or (position.update % every == 0 if every else epoch_done):
                with meter.paused():
                    assess()
                    save()
                last_save = time.monotonic()
            elif stop or time.monotonic() - last_save >= config.save_every_s:
                save()
                last_save = time.monotonic()
            if stop and not done:
                raise KeyboardInterrupt
    if total == 0:
        assess()
    model.eval()
    if selection and not selection.evaluate and accelerator.is_main_process:
        selection.keep({})
    position.finished = True
    save()
    accelerator.wait_for_everyone()
    return position


def _remaining(
    source: BatchSource, width: int, position: RunState, total: int
) -> Iterator[tuple[Sequence[Any], bool]]:
    """Yield the batches of each update still to be made, and whether they end their epoch."""

    def goes_on() -> bool:
        return position.update < total and not position.stopped_early

    while goes_on():
        plan = source.plan(position.epoch)
        if not plan:
            position.epoch += 1
        for start in range(position.batch * width, len(plan), width):
            if goes_on():
                yield plan[start : start + width], start + width >= len(plan)


def _update(
    accelerator: Accelerator,
    model: nn.Module,
    optimizer: Any,
    objective: Objective,
    source: BatchSource,
    items: Sequence[Any],
    config: TrainConfig,
    number: int,
    *,
    leaves_unused: bool,
) -> tuple[Figures, int]:
    """Make one update; return this process's figures (the loss: of all) and the tokens of all."""
    world, process = accelerator.num_processes, accelerator.process_index
    seed_torch(config.seed, number, process)
    mine = [source.load(item) for item in items[process::world]]
    idle = not mine  # an epoch's last update may have fewer batches than there are processes
    batches = mine or [source.load(items[0])]
    weight = 0.0 if idle else sum(batch.weight for batch in batches)
    everywhere = _summed(accelerator, weight)
    # DDP averages over processes; what is wanted is the sum over the summed weight. That is 0
    # where there is nothing to learn from: text of which no token can be masked.
    scale = 0.0 if idle or not everywhere else world / everywhere
    figures: Figures = {}
    for index, batch in enumerate(batches, start=1):
        inputs = {name: value.to(accelerator.device) for name, value in batch.inputs.items()}
        inputs[UNITS] = torch.tensor(batch.weight, device=accelerator.device)
        # Gradients are exchanged once, with the last batch; by hand if some are missing, because
        # DDP looks for those in the module's output, and a loss may be of something else.
        exchange = index == len(batches) and not leaves_unused
        bf16 = config.precision == "bf16"
        with contextlib.nullcontext() if exchange else accelerator.no_sync(model):
            with torch.autocast(accelerator.device.type, dtype=torch.bfloat16, enabled=bf16):
                loss, measured = objective(model, inputs)
            accelerator.backward(loss * scale)
        if not idle:
            add_figure(figures, "loss", loss.item(), batch.weight)
            for name, (value, count) in measured.items():
                add_figure(figures, name, value.item(), batch.weight if count is None else count)
    loss_everywhere = _summed(accelerator, figures["loss"][0] if figures else 0.0)
    if not math.isfinite(loss_everywhere):
        raise TrainingError(
            f"the loss is no number at update {number + 1}: training has diverged; lower the "
            f"rate (peak_lr={config.peak_lr / 3:.1e}) or lengthen the warm-up"
        )
    if leaves_unused and world > 1:
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter.grad = accelerator.reduce(parameter.grad, "mean")
    if config.clip_norm:
        accelerator.clip_grad_norm_(model.parameters(), config.clip_norm)
    optimizer.step()
    optimizer.zero_grad()
    figures["loss"] = loss_everywhere, everywhere
    return figures, int(_summed(accelerator, sum(batch.tokens for batch in mine)))


def _summed(accelerator: Accelerator, value: float) -> float:
    """Sum a number over the processes."""
    if accelerator.num_processes == 1:
        return value
    tensor = torch.tensor(value, device=accelerator.device)
    return float(accelerator.reduce(tensor, "sum").item())
