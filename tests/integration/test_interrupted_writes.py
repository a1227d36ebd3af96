"""What is written is old or new, whenever its writer is killed or its disk fails."""

from __future__ import annotations

import os

import pytest

from tests.helpers.interruptions import interruptions

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="needs fork"),
    pytest.mark.timeout(600),  # on a busy machine
]


def interrupt(*what: str) -> None:
    """See ``tests.helpers.interrupted``."""
    for name, result in interruptions(*what).items():
        print(name, result)
        assert result["failures"] == [], name


def test_a_folder_is_old_or_new_and_never_both() -> None:
    """At every step of a save over another model, a conversion and a build of shards."""
    interrupt("save", "convert", "build")


def test_exports_and_runs_are_old_or_new() -> None:
    interrupt("export:2", "training:1")


def test_a_reader_sees_no_mixture_while_two_writers_save() -> None:
    interrupt("read:60")


@pytest.mark.slow
@pytest.mark.parametrize("what", ["export", "training", "read:500"])
def test_at_every_step(what: str) -> None:
    interrupt(what)
