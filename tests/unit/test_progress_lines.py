"""What stands on standard error while answers arrive."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from zh_albert.cli import progress


def test_the_time_left_is_told_from_whole_pools(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])

    def pools() -> Iterator[int]:
        for _ in range(3):
            clock[0] += 20  # the network reads; then all its answers are there
            yield from range(100)

    assert len(list(progress.track(pools(), total=300, what="texts"))) == 300
    assert capsys.readouterr().err.splitlines() == [
        "texts: 100 of 300, 5/s, 0:40 left",
        "texts: 200 of 300, 5/s, 0:20 left",
        "texts: 300 done in 1:00",
    ]
