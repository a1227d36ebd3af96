"""Uploaded tables: what is read; and what cannot be read is told in one line, with its place."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import zipfile
from pathlib import Path

import pytest

import apps
from apps.i18n.tables import CHINESE, ENGLISH
from apps.tables import MAX_BYTES, MAX_CELL, RefusedError, Table, open_table, read_rows

SAMPLES = Path(apps.__file__).parent / "samples"


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def opened(path: Path) -> Table:
    return open_table(CHINESE, path, path.name)


def zipped() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.csv", b"0" * 10_000_000)
    return target.getvalue()


def test_a_table_tells_its_columns_rows_and_where_the_texts_are(tmp_path: Path) -> None:
    content = '\ufeffid,评论,label\r\n1,"好，很好\r\n真的",a\r\n\r\n2,,b\r\n'
    table = opened(write(tmp_path, "t.csv", content))

    assert table.columns == {"id": 2, "评论": 1, "label": 2}
    assert table.rows == 2
    assert table.likely() == "评论"
    rows = [row for _, row in read_rows(CHINESE, table.path)]
    assert rows[0] == {"id": "1", "评论": "好，很好\r\n真的", "label": "a"}
    assert rows == table.head


def test_columns_that_would_become_one_stay_as_they_are(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "'=a,=a\n'=1,好\n")
    assert [row for _, row in read_rows(CHINESE, path)] == [{"'=a": "=1", "=a": "好"}]


@pytest.mark.parametrize("codec", ["gb18030", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.filterwarnings("ignore:.*read as:UserWarning")
def test_what_excel_writes_is_read(tmp_path: Path, codec: str, separator: str) -> None:
    content = f"评论{separator}情感\r\n房间很干净{separator}好评\r\n"
    table = opened(write(tmp_path, "t.csv", content.encode(codec)))
    assert table.head == [{"评论": "房间很干净", "情感": "好评"}]


def test_json_lines_may_have_different_columns(tmp_path: Path) -> None:
    lines = [{"content": "好", "n": 1}, {"content": None, "more": "x"}]
    path = write(tmp_path, "t.jsonl", "\n".join(map(json.dumps, lines)) + "\n\n")
    table = opened(path)

    assert table.columns == {"content": 1, "n": 0, "more": 1}
    assert table.likely() == "content"
    assert [row for _, row in read_rows(CHINESE, path)] == lines


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("t.xlsx", zipped(), "只能读 .csv 和 .jsonl"),
        ("t.csv.gz", gzip.compress(b"text\na\n"), "只能读 .csv 和 .jsonl"),
        ("t.csv", zipped(), "压缩包或 Excel"),
        ("t.jsonl", gzip.compress(b"{}"), "压缩包或 Excel"),
        ("t.csv", b"\x7fELF\0\0\0", "二进制"),
        ("t.csv", "text\n好\n".encode() + "很差\n".encode("gb18030"), "第 3 行不是 UTF-8"),
        ("t.csv", 'text\n"好\n', "引号没有配对"),
        ("t.csv", "text\n" + "好" * (2 * 10**6), "第 2 行有一格超过"),
        ("t.csv", "text,b\n好\n", "第 2 行有 1 格，表头有 2 格"),
        ("t.csv", "text,text\n好,差\n", "空的或重复的列名"),
        ("t.csv", "", "没有数据"),
        ("t.csv", "\n \n", "没有数据"),
        ("t.csv", "text\n", "没有数据"),
        ("t.jsonl", "\n\n", "没有数据"),
        ("t.jsonl", "{}\n", "没有数据"),
        ("t.csv", "text\n　\n", "没有一格是文字"),
        ("t.jsonl", '{"text": 3}\n', "没有一格是文字"),
        ("t.jsonl", '{"text": "a"}\n[1]\n', "第 2 行不是一个 JSON 对象"),
        ("t.jsonl", json.dumps({f"c{i}": "x" for i in range(201)}), "列数超过了 200"),
        ("t.jsonl", json.dumps({"text": "好" * (MAX_CELL + 1)}), "第 1 行有一格超过"),
    ],
    ids=itertools.count(),  # not the contents: archives hold the time, and workers must agree
)
def test_what_cannot_be_read_is_told_with_what_to_do(
    tmp_path: Path, name: str, content: str | bytes, told: str
) -> None:
    path = write(tmp_path, name, content)
    with pytest.raises(RefusedError) as refused:
        opened(path)
    notice = refused.value.notice
    assert told in notice.problem
    assert notice.remedy
    assert "\n" not in notice.problem + notice.remedy
    with pytest.raises(RefusedError) as refused:
        open_table(ENGLISH, path, path.name)
    assert refused.value.notice.problem.isascii() or "“" in refused.value.notice.problem


def test_a_file_that_is_too_large_is_refused_unread(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "text\n")
    with path.open("r+b") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(RefusedError, match="最多收 100 MB"):
        opened(path)


@pytest.mark.parametrize("name", ["../../etc/评论.csv", "C:\\secret\\评论.csv", "/评论.csv"])
def test_a_name_has_no_folders(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, "t.csv", "text\n好\n")
    assert open_table(CHINESE, path, name).name == "评论.csv"


def test_the_samples_can_be_read() -> None:
    assert opened(SAMPLES / "reviews.csv").columns == {"id": 30, "text": 30}
    assert opened(SAMPLES / "messages.csv").columns == {"text": 90, "label": 90}
