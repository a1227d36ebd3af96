"""``zh-albert clue fetch`` against a server in this process: whole, resumed, damaged, not there."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.helpers.commands import Cli
from zh_albert.clue.downloading import fetch, fetch_task
from zh_albert.clue.task import Download
from zh_albert.clue.tasks import CLUE_TASKS
from zh_albert.errors import DataError


def archive(packed_by: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", packed_by) as packed:
        packed.writestr("cluener_public/train.json", '{"text": "去台湾", "label": {}}\n' * 500)
        packed.writestr("cluener_public/dev.json", "{}\n")
        packed.writestr("__MACOSX/cluener_public/dev.json", "other")
        packed.writestr("../../outside.json", "{}\n")
    return buffer.getvalue()


class Server(ThreadingHTTPServer):
    """Serves ``files``; ``break_after`` bytes of an answer it hangs up, once."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.break_after: int | None = None
        self.ranges: list[str | None] = []
        self.address = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        content = self.server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        asked = self.headers.get("Range")
        self.server.ranges.append(asked)
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        if start >= len(content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(content)}")
            self.end_headers()
            return
        rest = content[start:]
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest[: self.server.break_after])
        self.server.break_after = None

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


def test_a_release_is_fetched_unpacked_and_not_fetched_again(
    cli: Cli, server: Server, tmp_path: Path
) -> None:
    server.files["/cluener_public.zip"] = archive()
    arguments = ("clue", "fetch", "cluener", "--to", tmp_path / "a" / "b")

    ran = cli(*arguments, "--mirror", server.address)

    assert (ran.code, ran.out) == (0, f"{tmp_path / 'a' / 'b' / 'cluener'}\n"), ran.err
    names = sorted(path.name for path in (tmp_path / "a" / "b").rglob("*"))
    assert names == ["cluener", "dev.json", "train.json"]
    assert not list(tmp_path.rglob("outside.json"))
    assert cli(*arguments, "--mirror", server.address).code == 0
    assert len(server.ranges) == 1
    (tmp_path / "a" / "b" / "cluener" / "dev.json").unlink()
    ran = cli(*arguments, "--mirror", server.address)
    assert (ran.code, "dev.json not found" in ran.err) == (2, True), ran.err


def test_a_broken_off_download_goes_on_where_it_stopped(
    cli: Cli, server: Server, tmp_path: Path
) -> None:
    whole = server.files["/cluener_public.zip"] = archive()
    server.break_after = 200
    arguments = ("clue", "fetch", "cluener", "--to", tmp_path, "--mirror", server.address)

    ran = cli(*arguments)

    assert ran.code == 2
    assert f".zip: interrupted after 200 of {len(whole):,} bytes; run the command again" in ran.err
    assert ran.err.count("\n") == 1
    assert not (tmp_path / "cluener").exists()
    assert cli(*arguments).code == 0
    assert server.ranges == [None, "bytes=200-"]
    assert (tmp_path / "cluener" / "train.json").stat().st_size > 10_000


def test_single_files_are_fetched_into_the_folder(cli: Cli, server: Server, tmp_path: Path) -> None:
    ran = cli("clue", "fetch", "bustm", "--to", tmp_path, "--mirror", server.address)
    assert (ran.code, "train_0.json: the server answered 404" in ran.err) == (2, True)
    for split in ("train", "dev"):
        for which in ("0", "1", "2", "3", "4", "few_all"):
            server.files[f"/{split}_{which}.json"] = b"{}\n"
    server.files["/test_public.json"] = server.files["/test.json"] = b"{}\n"
    assert cli("clue", "fetch", "bustm", "--to", tmp_path, "--mirror", server.address).code == 0
    assert len(list((tmp_path / "bustm").glob("*.json"))) == 14


@pytest.mark.parametrize("content", [b"\n", b"<html>busy</html>", b"[1]\n"])
def test_what_is_no_rows_is_not_kept(
    cli: Cli, server: Server, tmp_path: Path, content: bytes
) -> None:
    server.files["/train_0.json"] = content
    ran = cli("clue", "fetch", "bustm", "--to", tmp_path, "--mirror", server.address)
    assert ran.code == 2
    assert "train_0.json: expected lines of JSON, found" in ran.err
    assert not list(tmp_path.rglob("*.json"))


def test_an_empty_folder_is_no_release(cli: Cli, server: Server, tmp_path: Path) -> None:
    (tmp_path / "cluener").mkdir()
    server.files["/%E9%95%9C%E5%83%8F/cluener_public.zip"] = archive()
    mirror = f"{server.address}/镜像"
    ran = cli("clue", "fetch", "cluener", "--to", tmp_path, "--mirror", mirror)
    assert ran.code == 0, ran.err
    assert (tmp_path / "cluener" / "train.json").is_file()


def test_a_server_that_refuses_every_part_is_told(server: Server, tmp_path: Path) -> None:
    server.files["/x.json"] = b""  # "no byte from 0 on"
    with pytest.raises(DataError, match="the server answered 416"):
        fetch(Download(f"{server.address}/x.json"), tmp_path / "x.json")


def test_the_checksum_decides(server: Server, tmp_path: Path) -> None:
    server.files["/x.json"] = b"right"
    url, file = f"{server.address}/x.json", tmp_path / "x.json"
    with pytest.raises(DataError, match="expected the file with SHA-256 00"):
        fetch(Download(url, "00"), file)
    assert not list(tmp_path.iterdir())
    fetch(Download(url, hashlib.sha256(b"right").hexdigest()), file)
    assert file.read_bytes() == b"right"


def test_what_is_left_of_a_whole_or_another_file_does_not_harm(
    server: Server, tmp_path: Path
) -> None:
    server.files["/x.json"] = b"right"
    download = Download(f"{server.address}/x.json")
    for left in (b"right", b"longer than the file"):
        (tmp_path / ".x.json.part").write_bytes(left)
        fetch(download, tmp_path / "x.json")
        assert (tmp_path / "x.json").read_bytes() == b"right"


@pytest.mark.parametrize(
    "packed_by", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_a_damaged_archive_leaves_nothing(
    packed_by: int, cli: Cli, server: Server, tmp_path: Path
) -> None:
    damaged = bytearray(archive(packed_by))
    inside = slice(70, 90)  # behind the header and the name of the first file
    damaged[inside] = bytes(byte ^ 0xFF for byte in damaged[inside])
    server.files["/cluener_public.zip"] = bytes(damaged)
    ran = cli("clue", "fetch", "cluener", "--to", tmp_path, "--mirror", server.address)
    assert (ran.code, "the archive is damaged" in ran.err) == (2, True), ran.err
    assert not list(tmp_path.iterdir())


def test_an_archive_that_lies_there_is_not_fetched_again_and_survives_a_full_disk(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = CLUE_TASKS["cluener"]
    (tmp_path / "cluener_public.zip").write_bytes(archive())  # put there, or left by another call

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("zh_albert.clue.downloading.shutil.copyfileobj", full)
        with pytest.raises(OSError, match="No space left"):
            fetch_task(task, tmp_path, mirror=server.address)
    assert [path.name for path in tmp_path.iterdir()] == ["cluener_public.zip"]

    folder = fetch_task(task, tmp_path, mirror=server.address)
    assert sorted(path.name for path in folder.iterdir()) == ["dev.json", "train.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["cluener"]
    assert not server.ranges  # nothing was asked of it


@pytest.mark.parametrize(("place", "value"), [("flags", 1), ("method", 77)])
def test_an_encrypted_archive_or_one_packed_in_an_unknown_way_is_refused(
    place: str, value: int, cli: Cli, server: Server, tmp_path: Path
) -> None:
    changed = bytearray(archive())
    directory = changed.index(b"PK\x01\x02")  # repeats what stands before each file
    for start in (0, directory + 2):
        changed[start + {"flags": 6, "method": 8}[place]] = value
    server.files["/cluener_public.zip"] = bytes(changed)
    ran = cli("clue", "fetch", "cluener", "--to", tmp_path, "--mirror", server.address)
    assert (ran.code, "encrypted or of an unknown compression" in ran.err) == (2, True), ran.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:9", "http://nowhere.invalid", "http://[::1", "here"]
)
def test_without_a_network_it_says_so_in_one_line(cli: Cli, tmp_path: Path, address: str) -> None:
    ran = cli("clue", "fetch", "cluener", "--to", tmp_path, "--mirror", address)
    assert ran.code == 2
    assert ran.err.startswith(f"error: {address}/cluener_public.zip: ")
    assert ran.err.count("\n") == 1
