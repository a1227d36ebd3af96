from __future__ import annotations

import bz2
import csv
import errno
import gzip
import json
import lzma
import math
import os
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from zh_albert.configio import read_toml
from zh_albert.errors import CheckpointError, ConfigError, DataError
from zh_albert.files import textio
from zh_albert.files.plain_files import LIMIT_VARIABLE
from zh_albert.files.textio import atomic_write, encode_json, read_lines, results_json
from zh_albert.tables.delimited import csv_rows
from zh_albert.tables.objects import read_objects


def test_bytes_that_are_not_utf8_are_located(tmp_path: Path) -> None:
    path = tmp_path / "gbk.txt"
    path.write_bytes("好\n".encode() + "很好\n".encode("gb18030"))
    with pytest.raises(DataError, match=r"gbk\.txt, line 2: byte 1 is not UTF-8 \(0xba\)"):
        list(read_lines(path))


def test_only_newlines_end_a_line_and_a_mark_at_the_start_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "mixed.txt"
    path.write_bytes("\ufeff一\u2028二\r\n三\x0b四\n五".encode())
    assert list(read_lines(path)) == [(1, "一\u2028二"), (2, "三\x0b四"), (3, "五")]


@pytest.mark.parametrize(("suffix", "module"), [("xz", lzma), ("gz", gzip), ("bz2", bz2)])
def test_compressed_files_read_the_same(tmp_path: Path, suffix: str, module: object) -> None:
    path = tmp_path / f"a.jsonl.{suffix}"
    path.write_bytes(module.compress('{"text": "好"}\n\n'.encode()))  # type: ignore[attr-defined]
    assert list(read_objects(path)) == [(1, {"text": "好"})]
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match="compressed file is damaged"):
        list(read_objects(path))


def test_zstandard_files_are_read(tmp_path: Path) -> None:
    import zstandard

    path = tmp_path / "a.txt.zst"
    path.write_bytes(zstandard.compress("好\n".encode()))
    assert list(read_lines(path)) == [(1, "好")]


@pytest.mark.parametrize(
    ("line", "problem"),
    [("{oops", "line 1: not JSON"), ("3", "line 1: expected a JSON object, found int")],
)
def test_a_broken_json_line_is_located(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(line)
    with pytest.raises(DataError, match=problem):
        list(read_objects(path))


def test_a_missing_file_or_a_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        list(read_lines(tmp_path / "none.txt"))
    with pytest.raises(DataError, match="found a folder"):
        list(read_lines(tmp_path))


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_bytes(b"old")

    def write() -> None:
        with atomic_write(path) as file:
            file.write(b"new")
            raise OSError("disk full")

    with pytest.raises(OSError, match="full"):
        write()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_or_read_only_disk_is_named_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "answers.csv"

    def write() -> None:
        with atomic_write(path):
            pass

    def fails(number: int, filename: str | None) -> None:
        def failing(*_: object, **__: object) -> None:
            raise OSError(number, os.strerror(number), filename)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "touch" if filename else "replace", failing)
            with pytest.raises(OSError, match=os.strerror(number)) as told:
                write()
        assert told.value.filename == str(path)

    fails(errno.ENOSPC, None)
    fails(errno.EROFS, str(tmp_path / ".answers.csv.half-written.0123abcd"))
    assert list(tmp_path.iterdir()) == []

    with pytest.raises(ConnectionResetError) as told, atomic_write(path):
        raise ConnectionResetError(errno.ECONNRESET, "by the other side")
    assert told.value.filename is None, "what is read meanwhile is not the file"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_cell_keeps_the_line_ends_it_has(tmp_path: Path, end: str) -> None:
    path = tmp_path / "cells.csv"
    cell = f"第一行{end}{end}王明\r在北京"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator=end).writerows([["text", "n"], [cell, "1"], ["好", "2"]])
    rows = [row for _, row in read_objects(path)]
    assert rows == [{"text": cell, "n": "1"}, {"text": "好", "n": "2"}]


def test_a_packed_file_may_be_named_in_capitals(tmp_path: Path) -> None:
    path = tmp_path / "A.JSONL.GZ"
    path.write_bytes(gzip.compress('{"text": "好"}\n'.encode()))
    assert list(read_objects(path)) == [(1, {"text": "好"})]


def test_every_frame_of_a_zstandard_file_is_read_and_a_cut_one_is_said(tmp_path: Path) -> None:
    import zstandard

    path = tmp_path / "a.txt.zst"
    path.write_bytes(zstandard.compress("一\n二".encode()) + zstandard.compress("三\n".encode()))
    assert list(read_lines(path)) == [(1, "一"), (2, "二三")]
    for damaged in (path.read_bytes()[:-4], b"no zstandard"):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match="compressed file is damaged"):
            list(read_lines(path))


def test_a_gzip_file_damaged_in_the_middle_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    whole = gzip.compress(random.Random(0).randbytes(64).hex().encode() * 9)
    path.write_bytes(whole[:30] + bytes(byte ^ 0xFF for byte in whole[30:60]) + whole[60:])
    with pytest.raises(DataError, match="compressed file is damaged"):
        list(read_lines(path))


@pytest.mark.parametrize("line", ['{"text": ' + "[" * 100_000, '{"label": ' + "9" * 5000 + "}"])
def test_json_that_python_cannot_hold_is_located(tmp_path: Path, line: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(line)
    with pytest.raises(DataError, match="line 1: not JSON that can be read"):
        list(read_objects(path))


@pytest.mark.parametrize("below", ["sub", "x" * 300])
def test_paths_that_cannot_be_opened_are_said(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").write_text("")
    path = tmp_path / ("file/sub" if below == "sub" else below)
    with pytest.raises(DataError, match="cannot be read"):
        list(read_lines(path))
    with pytest.raises(ConfigError, match="cannot be read"):
        read_toml(path)


def test_old_line_ends_in_a_table_are_named(tmp_path: Path) -> None:
    path = tmp_path / "mac.csv"
    path.write_bytes("text\r好\r".encode())
    with pytest.raises(DataError, match=r"mac\.csv, line 1: lines end in a carriage return alone"):
        list(csv_rows(read_lines(path, keep_ends=True), path))


ENDLESS = 64 << 20


def packed_zeros(suffix: str) -> bytes:
    """One line without an end, a hundredth or less of its size."""
    import zstandard

    pack: Callable[[bytes], bytes] = {
        ".txt": bytes,
        ".gz": gzip.compress,
        ".xz": lambda content: lzma.compress(content, preset=0),
        ".zst": zstandard.compress,
    }[suffix]
    return pack(bytes(ENDLESS))


@pytest.mark.parametrize("suffix", [".txt", ".gz", ".xz", ".zst"])
def test_a_line_without_end_is_refused_in_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "1")
    path = tmp_path / f"a{suffix}"
    path.write_bytes(packed_zeros(suffix))
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"line 1: expected a line of at most 1,048,576 bytes"):
            list(read_lines(path))
        assert tracemalloc.get_traced_memory()[1] < ENDLESS
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("suffix", [".txt", ".gz", ".xz", ".zst"])
def test_a_long_text_and_many_equal_ones_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    """Text that packs to a hundredth is honest: only its lines are limited."""
    import zstandard

    monkeypatch.setenv(LIMIT_VARIABLE, "1")
    longest = "好" * ((1 << 20) // 3)
    content = (longest + "\n" + "很好\n" * 10**6).encode()
    pack = {".txt": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstandard.compress}
    path = tmp_path / f"a{suffix}"
    path.write_bytes(pack[suffix](content))
    assert next(read_lines(path)) == (1, longest)
    assert sum(1 for _ in read_lines(path)) == 1 + 10**6


def test_streams_of_xz_may_follow_each_other_with_padding_between(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.xz"
    first, second = lzma.compress("好\n很".encode()), lzma.compress("坏\n".encode(), preset=9)
    path.write_bytes(first + b"\0" * 8 + second + b"\0" * 4)
    assert list(read_lines(path)) == [(1, "好"), (2, "很坏")]
    for damaged in (b"", first + b"junk", first + second[:-9], first[:-1]):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match="the compressed file is damaged"):
            list(read_lines(path))


def test_a_dictionary_of_xz_that_fills_the_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt.xz"
    path.write_bytes(lzma.compress(b"1\n", preset=6))  # 8 MiB
    assert list(read_lines(path)) == [(1, "1")]
    monkeypatch.setattr(textio, "_DICTIONARY", 1 << 20)
    monkeypatch.setenv(LIMIT_VARIABLE, "1")
    with pytest.raises(DataError, match=r"its dictionary is too large: .*set ZH_ALBERT_MAX_MB"):
        list(read_lines(path))
    monkeypatch.setenv(LIMIT_VARIABLE, "10")
    assert list(read_lines(path)) == [(1, "1")]


@pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.jsonl.gz", "a.jsonl.xz"])
def test_pipes_and_devices_are_refused_unless_they_are_welcome(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    os.mkfifo(path)
    with pytest.raises(DataError, match="cannot be read: expected a regular file, found a pipe"):
        list(read_objects(path))
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(DataError, match="found a device"):
        list(read_objects(path))
    if name == "a.jsonl":
        with pytest.raises(DataError, match="expected a line of at most"):
            list(read_lines(path, pipes=True))


def test_numbers_that_json_has_not_become_null_in_results_and_an_error_in_answers() -> None:
    values = {"loss": math.nan, "all": (1.5, -math.inf), "deep": [{"a": math.inf}], "b": True}
    found = json.loads(results_json(values))
    assert found == {"loss": None, "all": [1.5, None], "deep": [{"a": None}], "b": True}
    with pytest.raises(CheckpointError, match="expected finite numbers in an answer"):
        encode_json({"score": math.nan})


@pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
def test_what_a_link_leads_to_is_written_and_a_pipe_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with atomic_write(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"

    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with atomic_write(tmp_path / "pipe") as file:
        file.write(b"new")
    assert os.read(reader, 9) == b"new"
    os.close(reader)
    assert (tmp_path / "pipe").is_fifo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "pipe", "real"]
