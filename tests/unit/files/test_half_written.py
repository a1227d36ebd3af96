"""Files and folders in the making: what a killed process left goes, what another holds stays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from zh_albert.checkpoints.folder import replace_folder
from zh_albert.checkpoints.verified import verified
from zh_albert.files.half_written import EVERY, half_written, left_over, remove_left_over
from zh_albert.files.textio import atomic_write

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs locks")

WRITER = """
import sys, time
from pathlib import Path
from zh_albert.files.half_written import half_written
with half_written(Path(sys.argv[1]), is_folder=sys.argv[2] == "folder") as path:
    if path.is_dir():
        (path / "model.safetensors").write_bytes(b"half")
    print(path, flush=True)
    time.sleep(60)
"""


class Writer:
    """Another process that is writing something."""

    def __init__(self, destination: Path, kind: str) -> None:
        command = [sys.executable, "-c", WRITER, str(destination), kind]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.path = Path(self.process.stdout.readline().strip())

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_what_another_process_writes_stays_until_it_is_killed(tmp_path: Path, kind: str) -> None:
    destination = tmp_path / "out"
    writer = Writer(destination, kind)
    try:
        remove_left_over(destination)
        assert left_over(destination) == [writer.path]
        with atomic_write(destination) as file:
            file.write(b"1")
        assert writer.path.exists()
    finally:
        writer.kill()
    assert writer.path.exists()
    with atomic_write(destination) as file:
        file.write(b"2")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("does", ["opened", "saved"])
def test_what_was_left_beside_a_model_goes_when_it_is_opened_or_saved(
    tmp_path: Path, does: str
) -> None:
    folder = tmp_path / "model"
    replace_folder(folder, {"config.json": "{}"})
    Writer(folder, "folder").kill()
    other = tmp_path / ".model2.half-written.1"
    other.mkdir()
    assert len(left_over(folder)) == 1
    if does == "opened":
        with verified(folder):
            pass
    else:
        replace_folder(folder, {"config.json": "{}"})
    assert sorted(path.name for path in tmp_path.iterdir()) == [".model2.half-written.1", "model"]


def test_at_the_end_it_is_gone_or_renamed(tmp_path: Path) -> None:
    with half_written(tmp_path / "a", is_folder=True) as path:
        (path / "b").touch()
    assert not path.exists()
    with half_written(tmp_path / "a", is_folder=False) as path:
        assert [*tmp_path.glob(EVERY)] == [path]
        path.rename(tmp_path / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_where_there_are_no_locks_nothing_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(38, "Function not implemented")

    (tmp_path / ".a.half-written.1").touch()
    monkeypatch.setattr("fcntl.flock", no_locks)
    with atomic_write(tmp_path / "a") as file:
        file.write(b"1")
    assert (tmp_path / "a").read_bytes() == b"1"
    assert (tmp_path / ".a.half-written.1").exists()


def test_links_and_names_that_lead_elsewhere_are_not_followed(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "file").touch()
    (tmp_path / ".a.half-written.1").symlink_to(mine)
    remove_left_over(tmp_path / "a")
    assert (mine / "file").exists()


def test_a_removal_between_the_making_and_the_holding_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may take a name that nobody holds yet for left over."""
    import fcntl

    flock, names = fcntl.flock, []

    def taken(handle: int, kind: int) -> None:
        if not names:
            names.extend(left_over(tmp_path / "a"))
            names[0].rmdir()
        flock(handle, kind)

    monkeypatch.setattr("fcntl.flock", taken)
    with half_written(tmp_path / "a", is_folder=True) as path:
        assert path.is_dir()
        assert path != names[0]
