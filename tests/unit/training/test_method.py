"""Methods one around another."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from zh_albert.training.loop import LossOutput, Objective
from zh_albert.training.method import Method, Methods


class Around(nn.Module):
    def __init__(self, name: str, network: nn.Module) -> None:
        super().__init__()
        self.name, self.network = name, network


class Noting(Method):
    def __init__(self, name: str, *, leaves_unused: bool = False) -> None:
        self.name, self.leaves_unused = name, leaves_unused
        self.told: list[tuple[int, int]] = []

    def metadata(self) -> dict[str, Any]:
        return {self.name: len(self.told)}

    def around(self, network: nn.Module) -> nn.Module:
        return Around(self.name, network)

    def objective(self, objective: Objective) -> Objective:
        def noted(module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
            loss, measured = objective(module, inputs)
            return LossOutput(2 * loss + 1, {**measured, self.name: (loss.detach(), 1)})

        return noted

    def on_update(self, update: int, total: int) -> None:
        self.told.append((update, total))


class Adding(Method):
    adds_to_loss = True


def plain(module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
    return LossOutput(torch.tensor(1.0))


def test_a_method_that_changes_nothing() -> None:
    network = nn.Linear(1, 1)
    for method in (Method(), Methods()):
        assert method.around(network) is network
        assert method.objective(plain) is plain
        assert not method.leaves_unused
        assert not method.adds_to_loss
        assert method.metadata() == {}
        method.on_update(0, 1)


def test_the_first_is_the_innermost_and_all_are_told_the_time() -> None:
    first, second = Noting("first"), Noting("second", leaves_unused=True)
    methods = Methods([first, second])
    outer = methods.around(nn.Linear(1, 1))
    assert isinstance(outer, Around)
    assert (outer.name, outer.network.name) == ("second", "first")  # type: ignore[union-attr]
    loss, measured = methods.objective(plain)(outer, {})
    assert loss == 7
    assert {name: value.item() for name, (value, _) in measured.items()} == {
        "first": 1,
        "second": 3,
    }
    assert methods.leaves_unused
    assert not Methods([first]).leaves_unused
    assert not methods.adds_to_loss
    assert Methods([first, Adding()]).adds_to_loss
    methods.on_update(3, 9)
    assert first.told == second.told == [(3, 9)]
    assert methods.metadata() == {"first": 1, "second": 1}
