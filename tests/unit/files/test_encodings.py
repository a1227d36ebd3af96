"""Encodings of people's text files."""

from __future__ import annotations

import io
import lzma
import random
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zh_albert.errors import DataError
from zh_albert.files.encodings import decoded_lines, likely_encoding
from zh_albert.files.textio import read_lines

SIMPLIFIED = "房间很干净，服务热情周到\n味道太差了，再也不来了\n北京上海广州\n"
TRADITIONAL = "房間很乾淨，服務熱情周到\n味道太差了，再也不來了\n臺北高雄\n"


@pytest.mark.parametrize(
    ("text", "codec", "name"),
    [
        (SIMPLIFIED, "gbk", "GB18030"),
        (SIMPLIFIED + "𠮷€", "gb18030", "GB18030"),
        (TRADITIONAL, "cp950", "Big5"),
        (SIMPLIFIED, "utf-16", "UTF-16"),
        ("text,label\n" + TRADITIONAL, "utf-16-le", "UTF-16"),
        ("text,label\n" + SIMPLIFIED, "utf-16-be", "UTF-16"),
    ],
)
def test_what_is_not_utf8_is_read_and_told(
    tmp_path: Path, text: str, codec: str, name: str
) -> None:
    text = "text,label\n" * (codec == "gbk") + text
    (tmp_path / "a.txt").write_bytes(text.encode(codec))
    with pytest.warns(UserWarning, match=f"a.txt: read as {name}.*, for it is not UTF-8"):
        lines = [line for _, line in read_lines(tmp_path / "a.txt")]
    assert lines == text.splitlines()


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig"])
def test_utf8_is_read_without_a_word(tmp_path: Path, codec: str) -> None:
    (tmp_path / "a.txt").write_bytes(SIMPLIFIED.encode(codec))
    assert [line for _, line in read_lines(tmp_path / "a.txt")] == SIMPLIFIED.splitlines()


def test_a_zero_in_a_line_does_not_make_it_utf16(tmp_path: Path) -> None:
    text = "房间很\0干净\nab\0cdefgh\n"
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    assert [line for _, line in read_lines(tmp_path / "a.txt")] == text.splitlines()


def test_short_texts_are_enough() -> None:
    """Parts of four characters, which detectors for any language fail on."""
    rng, right, tried = random.Random(0), 0, 0
    text = "".join(Path("README.zh-CN.md").read_text(encoding="utf-8").split())
    chinese = "".join(c for c in text if "\u4e00" <= c <= "\u9fff")
    for _ in range(500):
        start = rng.randrange(len(chinese) - 4)
        part = chinese[start : start + 4]
        tried += 2
        right += likely_encoding(part.encode("utf-8")) == "utf-8"
        right += likely_encoding(part.encode("gbk")) == "gb18030"
    assert right > 0.99 * tried


def test_a_line_in_another_encoding_is_named(tmp_path: Path) -> None:
    mixed = SIMPLIFIED.encode() * 1_000 + "房间很干净\n".encode("gbk")
    (tmp_path / "a.txt").write_bytes(mixed)
    with pytest.raises(DataError, match=r"line 3001: byte 1 is not UTF-8 .* in one encoding"):
        list(read_lines(tmp_path / "a.txt"))
    (tmp_path / "a.txt").write_bytes(SIMPLIFIED.encode("gbk") * 3_000 + b"\xff\xff\n")
    with (
        pytest.warns(UserWarning, match="GB18030"),
        pytest.raises(DataError, match="line 9001: byte 1 is not GB18030"),
    ):
        list(read_lines(tmp_path / "a.txt"))


def test_a_damaged_file_is_not_taken_for_another_encoding() -> None:
    content = bytearray(SIMPLIFIED.encode() * 50)
    for place in range(0, len(content), 97):
        damaged = bytearray(content)
        damaged[place] ^= 0x40
        assert likely_encoding(bytes(damaged)) in (None, "utf-8")


@given(content=st.binary(max_size=200))
def test_any_bytes_are_lines_or_an_error(content: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            lines = list(decoded_lines(iter(io.BytesIO(content)), "x"))
        except DataError:
            return
    assert all(line.index("\n") == len(line) - 1 for line in lines[:-1])


def test_a_file_of_a_program_is_not_said_to_be_of_no_encoding(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(SIMPLIFIED.encode("gbk"))
    with pytest.raises(DataError, match=r"line 1: byte 1 is not UTF-8 \(0xb7\)\. Save"):
        list(read_lines(tmp_path / "a.txt", only_utf8=True))


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"\x1f\x8b\x08", "packed by gzip; name it .gz"),
        (lzma.compress(b"text"), "packed by xz; name it .xz"),
        (b"\x28\xb5\x2f\xfd", "packed by zstd; name it .zst"),
        (b"PK\x03\x04\x14\x00", "a zip archive or a workbook; unpack it, or name it .xlsx"),
    ],
)
def test_a_packed_file_by_another_name_is_told(tmp_path: Path, content: bytes, found: str) -> None:
    path = tmp_path / "reviews.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"reviews.csv: expected text, found .*{found}"):
        list(read_lines(path))
