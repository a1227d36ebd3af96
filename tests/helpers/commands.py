"""``zh-albert`` as tests run it: what came of a command, settings of quick runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Ran(NamedTuple):
    code: int
    out: str
    err: str


Cli = Callable[..., Ran]

# Enough for the micro encoder to learn "reviews".
QUICK = (
    "--set=train.epochs=8",
    "--set=train.peak_lr=5e-3",
    "--set=train.batch_tokens=128",
    "--set=window.max_length=32",
    "--set=window.stride=8",
)


def refused(ran: Ran, *parts: str) -> None:
    assert ran.code == 2, ran
    assert ran.err.splitlines()[-1].startswith("error: ")
    assert "Traceback" not in ran.err
    for part in parts:
        assert part in ran.err.splitlines()[-1]


QUICK_TAGGER = (
    "--set=train.epochs=20",
    "--set=train.evaluate_every=30",
    "--set=train.peak_lr=1e-2",
    "--set=train.batch_tokens=96",
    "--set=window.max_length=24",
    "--set=window.stride=8",
)
