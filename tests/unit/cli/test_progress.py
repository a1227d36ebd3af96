"""What stands on standard error while work is done."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from zh_albert.cli import progress
from zh_albert.cli.progress import TrainingDisplay
from zh_albert.training.events import StageProgress, Warned


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
        "texts: 100 of 300, 5.0/s, 0:40 left",
        "texts: 200 of 300, 5.0/s, 0:20 left",
        "texts: 300 done in 1:00",
    ]


@pytest.mark.parametrize(
    ("per_second", "shown"),
    [(1234.5, "1,234/s"), (1.25, "1.2/s"), (0.25, "15/min"), (0.004, "14/h"), (1e-5, "0.0/h")],
)
def test_slow_work_is_shown_with_a_rate(
    per_second: float, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with TrainingDisplay() as display:
        display(
            StageProgress(
                what="n-grams are tried", done=3, total=12, per_second=per_second, seconds_left=24
            )
        )
    assert capsys.readouterr().err == f"n-grams are tried: 3 of 12, {shown}, 0:24 left\n"


def test_brackets_in_messages_are_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with TrainingDisplay() as display:
        assert display.on_terminal
        display(Warned(update=0, text="labels [red] in [/data]"))
        display.show("[/data]", 1, 2, "[red]")
    shown = capsys.readouterr().err
    assert "warning: labels [red] in [/data]" in shown
    assert shown.count("[/data]") > 1
