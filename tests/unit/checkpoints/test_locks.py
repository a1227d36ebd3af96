"""Locks on folders."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from zh_albert.checkpoints import locks
from zh_albert.checkpoints.locks import locked

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs locks on folders")


def test_readers_share_a_folder_and_a_writer_waits_for_them(tmp_path: Path) -> None:
    order: list[str] = []

    def write() -> None:
        with locked(tmp_path):
            order.append("written")

    with locked(tmp_path, shared=True), locked(tmp_path, shared=True):
        writer = threading.Thread(target=write)
        writer.start()
        writer.join(timeout=0.1)
        order.append("read")
    writer.join(timeout=10)

    assert order == ["read", "written"]
    assert list(tmp_path.iterdir()) == []


def test_who_waits_too_long_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "_PATIENCE_S", 0.02)
    reached = []
    with locked(tmp_path), locked(tmp_path):
        reached.append("inside")

    assert reached == ["inside"]


def test_where_there_are_no_locks_nothing_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr("fcntl.flock", no_locks)
    with locked(tmp_path), locked(tmp_path):
        pass
    with locked(tmp_path / "none"):
        pass
