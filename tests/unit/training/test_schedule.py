"""Learning rates."""

from __future__ import annotations

import pytest

from zh_albert.training.config import TrainConfig
from zh_albert.training.schedule import learning_rate


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
