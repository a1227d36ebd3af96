"""Slow work tells how far it is."""

from __future__ import annotations

import pytest

from zh_albert.training import stages
from zh_albert.training.events import Event, StageProgress
from zh_albert.training.stages import StageMeter


def test_it_tells_once_a_second_and_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(stages.time, "monotonic", lambda: clock[0])
    events: list[Event] = []
    count = StageMeter("things", 50, events.append, done=10)
    for _ in range(20):
        clock[0] += 0.4
        count.advance(2)

    told = [event for event in events if isinstance(event, StageProgress)]
    assert [event.done for event in told] == [16, 22, 28, 34, 40, 46, 50]
    assert told[0].per_second == pytest.approx(5)  # those there before do not count
    assert told[0].seconds_left == pytest.approx((50 - 16) / 5)
    assert told[-1].seconds_left == 0
