"""Greedy turns: when the next teacher teaches, and that a resumed run knows whose turn it is."""

from __future__ import annotations

import pytest
from torch import nn

from zh_albert.distillation.route import GreedyTurns, next_turn
from zh_albert.distillation.soft_targets import TeacherConfig
from zh_albert.errors import ConfigError


@pytest.mark.parametrize(
    ("turn", "distances", "expected"),
    [
        (0, [0.8, 1.0, 2.0], 1),  # just near enough
        (0, [0.79, 1.0, 2.0], 0),
        (0, [0.5, 3.0, 0.6], 2),  # one may be passed over
        (1, [0.1, 0.5, 0.5], 2),
        (2, [0.9, 0.9, 0.9], 2),
        (0, [0.0, 0.0], 1),
    ],
)
def test_the_latest_teacher_that_is_near_teaches(
    turn: int, distances: list[float], expected: int
) -> None:
    assert next_turn(turn, distances) == expected


def turns_of(distances: list[list[float]], total: int) -> list[int]:
    """Return whose turn it is at each update; distances are those of one look after another."""
    taught: list[int] = []
    looks = iter(distances)
    greedy = GreedyTurns(len(distances[0]), lambda: next(looks), taught.append)
    greedy.around(nn.Identity())
    for update in range(total):
        greedy.on_update(update, total)
    return taught


def test_the_last_teacher_has_its_share_of_the_run() -> None:
    far = [[0.1, 1.0, 9.0]] * 12
    assert turns_of(far, 12) == [0] * 8 + [2] * 4


def test_near_teachers_follow_at_once() -> None:
    near = [[1.0, 1.0, 9.0], [9.0, 1.0, 1.0]]
    assert turns_of(near, 12) == [0, 1] + [2] * 10


def test_a_resumed_run_goes_on_with_the_same_teacher() -> None:
    taught: list[int] = []
    before = GreedyTurns(3, lambda: [1.0, 1.0, 9.0], taught.append)
    kept = before.around(nn.Identity())
    for update in range(3):
        before.on_update(update, 100)
    before.on_update(8, 100)
    after = GreedyTurns(3, lambda: [9.0, 0.1, 9.0], taught.append)
    resumed = after.around(nn.Identity())
    resumed.load_state_dict(kept.state_dict())
    after.on_update(9, 100)

    assert taught == [0, 0, 0, 1, 1]


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "news"},
        {"model": ("a", "b"), "together": True},
        {"model": ("a", "b"), "weight": 0},
    ],
)
def test_turns_without_several_answering_teachers_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="'greedy' is for several teachers"):
        TeacherConfig(turns="greedy", **settings)  # type: ignore[arg-type]
