"""Greedy turns of several teachers: the next one teaches once the student is near enough to it.

Source: Jin et al. 2019 (arXiv:1904.09149), route-constrained optimization, the greedy choice of
anchors; made here while the student trains, where the paper trains it for each choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from zh_albert.training.method import Beside, Method

_NEAR = 0.8  # the paper's threshold: distance from the present teacher over that from a later one
_LOOKS = 4  # at the distances, for each teacher


def next_turn(turn: int, distances: Sequence[float]) -> int:
    """Return the latest teacher whose answers are hardly farther away than the present one's.

    Args:
        turn: The present teacher.
        distances: Of the student's answers from each teacher's.

    >>> next_turn(0, [0.4, 0.45, 0.48, 0.9])
    2
    >>> next_turn(1, [0.1, 0.4, 0.9, 0.9])
    1
    """
    near = [
        later
        for later in range(turn + 1, len(distances))
        if distances[turn] >= _NEAR * distances[later]
    ]
    return max(near, default=turn)


class GreedyTurns(Method):
    """Looks at the student now and then, and lets the next teacher teach.

    The last teacher has at least its share of the run, however far away it is.

    Args:
        teachers: How many there are.
        distances: The student's mean distance from each teacher's answers, on some texts; the same
            on all processes.
        teach: Called with the number of the teacher whose turn it is.
    """

    def __init__(
        self, teachers: int, distances: Callable[[], Sequence[float]], teach: Callable[[int], None]
    ) -> None:
        self._teachers, self._distances, self._teach = teachers, distances, teach

    def around(self, network: nn.Module) -> nn.Module:
        """Return the network with the turn beside it."""
        self._kept: Any = Beside(network, turn=nn.Buffer(torch.tensor(0)))
        return self._kept

    def on_update(self, update: int, total: int) -> None:
        """Choose whose turn it is."""
        turn = int(self._kept.turn)
        every = max(1, total // (_LOOKS * self._teachers))
        if update >= total * (self._teachers - 1) / self._teachers:
            turn = self._teachers - 1
        elif update and update % every == 0 and turn < self._teachers - 1:
            turn = next_turn(turn, self._distances())
        self._kept.turn.fill_(turn)
        self._teach(turn)
