"""Files that may be hostile: what is read, what is refused, and where the limits are."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from zh_albert.errors import ConfigError
from zh_albert.files.plain_files import (
    LIMIT_VARIABLE,
    how_to_raise,
    limit_bytes,
    parse_json,
    read_plain,
    refuse_same,
    refuse_special,
    unpacked_limit,
)

MB = 1 << 20
needs_pipes = pytest.mark.skipif(os.name == "nt", reason="needs named pipes")


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "x", "١", "9" * 13])
def test_a_limit_that_is_none_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, text)
    with pytest.raises(ConfigError, match="ZH_ALBERT_MAX_MB: expected a whole number of megabytes"):
        limit_bytes()


def test_the_limit_is_of_64_mb_or_what_the_variable_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LIMIT_VARIABLE, raising=False)
    assert limit_bytes() == 64 * MB
    monkeypatch.setenv(LIMIT_VARIABLE, "3")
    assert limit_bytes() == 3 * MB
    assert "(now 3)" in how_to_raise()


def test_what_is_packed_may_be_eight_times_as_large_and_always_as_large_as_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "1")
    assert unpacked_limit(0) == MB
    assert unpacked_limit(MB) == 8 * MB


def test_a_file_is_read_up_to_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "1")
    path = tmp_path / "a"
    path.write_bytes(bytes(MB))
    assert read_plain(path) == bytes(MB)
    path.write_bytes(bytes(MB + 1))
    assert len(read_plain(path, limited=False)) == MB + 1
    with pytest.raises(OSError, match=r"more than 1,048,576 bytes: .*set ZH_ALBERT_MAX_MB"):
        read_plain(path)


@needs_pipes
def test_pipes_sockets_and_devices_are_refused_before_they_are_opened(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to("/dev/zero")
    for path, kind in ((pipe, "a pipe"), (link, "a device"), (Path("/dev/zero"), "a device")):
        with pytest.raises(OSError, match=f"expected a regular file, found {kind}"):
            read_plain(path)
        refuse_special(path, pipes=True)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        with pytest.raises(OSError, match="found a socket"):
            refuse_special(tmp_path / "s")


def test_missing_files_and_folders_are_left_to_who_opens_them(tmp_path: Path) -> None:
    refuse_special(tmp_path)
    refuse_special(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        read_plain(tmp_path / "none")


@needs_pipes
@pytest.mark.parametrize("name", ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])
def test_descriptors_of_the_process_are_welcome(name: str) -> None:
    program = (
        f"from pathlib import Path; from zh_albert.files.plain_files import read_plain; "
        f"print(read_plain(Path({name!r})))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], input=b"12", capture_output=True, check=True
    )
    assert ran.stdout.strip() == b"b'12'"


def test_json_of_any_depth_ends(tmp_path: Path) -> None:
    assert parse_json(b'{"a": [1, null]}') == {"a": [1, None]}
    for content in ("[" * 10**5, '{"a":' * 10**5, b"\xff", "nul", ""):
        with pytest.raises(ValueError, match=r"."):
            parse_json(content)


def test_a_file_that_is_read_is_not_written(tmp_path: Path) -> None:
    path, link, other = (tmp_path / name for name in ("a.csv", "link.csv", "b.csv"))
    path.write_text("text\n")
    link.symlink_to(path)
    refuse_same(other, path)
    refuse_same(path, other)
    refuse_same(Path("/dev/stdout"), Path("/dev/stdin"))
    for out in (path, link, tmp_path / "." / "a.csv"):
        with pytest.raises(ConfigError, match="expected another file than the one that is read"):
            refuse_same(out, other, path)
