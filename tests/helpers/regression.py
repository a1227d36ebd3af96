"""A regression problem for the training loop: no encoder is needed to see whether it is right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from zh_albert.training.config import TrainConfig
from zh_albert.training.loop import Batch, LossOutput


class Regression:
    """40 points on a plane, five a batch; the order depends on the epoch."""

    def __init__(self, batch_size: int = 5) -> None:
        generator = torch.Generator().manual_seed(0)
        self.x = torch.randn(40, 3, generator=generator)
        self.y = self.x @ torch.tensor([1.0, -2.0, 0.5]) + 3
        self.batch_size = batch_size
        self.loads = 0

    def plan(self, epoch: int) -> list[list[int]]:
        order = torch.randperm(40, generator=torch.Generator().manual_seed(epoch)).tolist()
        return [order[i : i + self.batch_size] for i in range(0, 40, self.batch_size)]

    def load(self, item: list[int]) -> Batch:
        self.loads += 1
        return Batch({"x": self.x[item], "y": self.y[item]}, weight=len(item), tokens=len(item))


def squared_error(model: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
    error = model(inputs["x"]).squeeze(-1) - inputs["y"]
    loss = (error**2).sum()
    return LossOutput(loss, {"absolute_error": (error.detach().abs().sum(), len(error))})


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 16), nn.Dropout(0.1), nn.Tanh(), nn.Linear(16, 1))


def weights(model: nn.Module) -> Tensor:
    return torch.cat([p.detach().flatten() for p in model.parameters()])


CONFIG = TrainConfig(epochs=6, peak_lr=0.05, warmup=0.1, save_every_s=0)


class StoppedError(Exception):
    """Stands for a kill between two updates."""


class StopAt:
    def __init__(self, update: int) -> None:
        self.update = update
        self.source = Regression()

    def plan(self, epoch: int) -> Sequence[list[int]]:
        return self.source.plan(epoch)

    def load(self, item: list[int]) -> Batch:
        if self.source.loads == self.update:
            raise StoppedError
        return self.source.load(item)


@contextmanager
def stopped(source: type, after: int) -> Iterator[None]:
    """Expect a run that loads from a source of that class, and kill it after so many batches."""
    load, count = source.load, 0

    def load_until(self: Any, item: Any) -> Batch:
        nonlocal count
        count += 1
        if count > after:
            raise StoppedError
        return load(self, item)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "load", load_until)
        with pytest.raises(StoppedError):
            yield
