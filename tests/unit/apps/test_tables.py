"""Uploaded tables: what is read; and what cannot be read is told in one line, with its place."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import apps
from apps.i18n import page
from apps.i18n.tables import CHINESE, ENGLISH
from apps.job_panels import table_notes
from apps.tables import MAX_BYTES, MAX_CELL, RefusedError, Table, open_table, read_rows

SAMPLES = Path(apps.__file__).parent / "samples"


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def opened(path: Path) -> Table:
    return open_table(CHINESE, path)


def zipped(content: bytes = b"0" * 100_000_000) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.csv", content)
    return target.getvalue()


def workbook(*sheets: list[list[Any]]) -> bytes:
    book, target = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.active)
    for rows in sheets:
        sheet = book.create_sheet()
        for row in rows:
            sheet.append(row)
    book.save(target)
    return target.getvalue()


def half_a_sheet() -> bytes:
    target = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook([["text"], ["很好"]]))) as whole,
        zipfile.ZipFile(target, "w") as damaged,
    ):
        for name in whole.namelist():
            content = whole.read(name)
            damaged.writestr(name, content[: len(content) // (2 if "sheet1" in name else 1)])
    return target.getvalue()


def test_a_table_tells_its_columns_rows_and_where_the_texts_are(tmp_path: Path) -> None:
    content = '\ufeffid,评论,label\r\n1,"好，很好\r\n真的",a\r\n\r\n2,,b\r\n'
    table = opened(write(tmp_path, "t.csv", content))

    assert table.columns == {"id": 2, "评论": 1, "label": 2}
    assert table.rows == 2
    assert table.column_of("text") == "评论"
    rows = [row for _, row in read_rows(CHINESE, table.path)]
    assert rows[0] == {"id": "1", "评论": "好，很好\r\n真的", "label": "a"}
    assert rows == table.head


def test_columns_that_would_become_one_stay_as_they_are(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "'=a,=a\n'=1,好\n")
    assert [row for _, row in read_rows(CHINESE, path)] == [{"'=a": "=1", "=a": "好"}]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv"])
@pytest.mark.parametrize("codec", ["gb18030", "utf-16", "big5"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_what_excel_writes_is_read_and_the_encoding_is_told(
    tmp_path: Path, codec: str, separator: str, name: str
) -> None:
    lines = ["他說的話", "星级"], ["房間很乾淨，下次還來", "5"]
    content = "".join(separator.join(line) + "\r\n" for line in lines).replace("级", "級")
    table = opened(write(tmp_path, name, content.encode(codec)))
    assert table.head == [{"他說的話": "房間很乾淨，下次還來", "星級": "5"}]
    assert table.column_of("text") == "他說的話"
    names = {"gb18030": "GB18030 (GBK)", "utf-16": "UTF-16", "big5": "Big5"}
    told = table_notes(page.CHINESE, table)
    assert f"文件不是 UTF-8，按 {names[codec]} 编码读取" in told
    assert f"it was read as {names[codec]}" in table_notes(page.ENGLISH, table)


ROWS = [{"文本": "房间很干净", "n": "1"}, {"文本": "味道太差了", "n": "2"}]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.xlsx", workbook([["文本", "n"], ["房间很干净", 1], [], ["味道太差了", 2]])),
        ("t.XLSX", workbook([], [["文本", "n"], ["房间很干净", 1.0], ["味道太差了", 2]])),
        ("t.xls", workbook([["文本", "n"], ["房间很干净", 1], ["味道太差了", 2]])),
        ("t.tsv", "文本\tn\n房间很干净\t1\n味道太差了\t2\n"),
        ("t.json", json.dumps(ROWS, indent=1)),
        ("t.ndjson", "\n\n".join(map(json.dumps, ROWS))),
        ("t.csv", ",文本,n\n0,房间很干净,1\n1,味道太差了,2\n"),
    ],
    ids=itertools.count(),
)
def test_the_same_rows_are_read_from_any_kind(
    tmp_path: Path, name: str, content: str | bytes
) -> None:
    table = opened(write(tmp_path, name, content))
    assert [row for _, row in read_rows(CHINESE, table.path)] == ROWS == table.head
    assert (table.column_of("text"), table.notes) == ("文本", [])


def test_a_text_a_line_is_read(tmp_path: Path) -> None:
    table = opened(write(tmp_path, "t.txt", "房间很干净\n\n太差了,再也不来\n"))
    assert table.head == [{"text": "房间很干净"}, {"text": "太差了,再也不来"}]


def test_labels_behind_tabs_and_exports_of_tools_are_read(tmp_path: Path) -> None:
    texts = ["国足客场一比一战平对手", "股市今天又大跌了三个点"] * 6
    lines = [f"{text}\t{'体育财经'[n % 2 * 2 :][:2]}" for n, text in enumerate(texts)]
    for name in ("t.txt", "t.tsv"):
        table = opened(write(tmp_path, name, "\n".join([*lines, "没有标签"])))
        assert table.head[1] == {"text": "股市今天又大跌了三个点", "label": "财经"}
        assert (table.rows, table.column_of("text"), table.damaged_at) == (13, "text", 13)
    tasks = [{"data": {"text": "很好"}, "annotations": [{"result": []}]}]
    tasks[0]["annotations"][0]["result"] = [
        {"type": "choices", "value": {"choices": ["好评"]}},
        {"type": "rating", "value": {}},
    ]
    table = opened(write(tmp_path, "t.json", json.dumps(tasks)))
    assert table.head == [{"text": "很好", "label": "好评"}]
    assert "标注里没有读的：1 marks of type rating" in table_notes(page.CHINESE, table)
    with pytest.raises(RefusedError, match="第 1 行的标注与工具导出的格式不同"):
        opened(write(tmp_path, "t.json", '{"data": {}, "annotations": []}'))


def test_which_sheet_is_read_and_repeated_names_are_told(tmp_path: Path) -> None:
    sheets = [], [["文本"], ["很好"]], [["说明"], ["导出于三月"]]
    table = opened(write(tmp_path, "t.xlsx", workbook(*sheets)))
    assert "读的是工作表“Sheet1”；没有读：Sheet2" in table_notes(page.CHINESE, table)
    table = opened(write(tmp_path, "t.csv", "text,n\n很好,1\ntext,n\n太差了,2\ntext,n\n"))
    assert table.rows == 2
    assert "第 3 行又写了一遍列名，跳过了" in table_notes(page.CHINESE, table)


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("t.csv", "text,n\n很好,1\n很好\n太差了,2\n", 3),
        ("t.csv", "text,n\n很好,啊,3\n很好,1\n太差了,2\n", 2),
        ("t.jsonl", '{"text": "很好"}\n{\n{"text": "太差了"}\n', 2),
        ("t.json", '[{"text": "很好"}, 3, {"text": "太差了"}]', 2),
        ("t.csv", f"text\n很好\n{'长' * (MAX_CELL + 1)}\n太差了\n", 3),
    ],
    ids=itertools.count(),
)
def test_a_damaged_row_costs_only_itself(
    tmp_path: Path, name: str, content: str, place: int
) -> None:
    table = opened(write(tmp_path, name, content))
    assert (table.rows, table.damaged, table.damaged_at) == (3, 1, place)
    assert table.columns["text"] == 2
    told = table_notes(page.CHINESE, table)
    assert f"有 1 行读不了，第一处在第 {place} 行" in told
    rows = dict(read_rows(CHINESE, table.path))
    assert isinstance(rows[place], RefusedError)
    assert str(place) in str(rows[place])


@pytest.mark.parametrize(
    ("content", "field", "column"),
    [
        ("订单号,评论内容\n20260311,很好\n", "text", "评论内容"),
        ("订单号, Text \n很好很好很好,很好\n", "text", " Text "),
        ("订单号,客人,说的话\n20260311,张三,房间很干净\n", "text", "说的话"),
        ("label,text_a\n好评,味道太差了\n", "text", "text_a"),
        ("订单号,客人\n20260311,20260312\n", "text", None),
        ("订单号\n20260311\n", "text", None),
        ("甲,乙\n房间很干净,味道太差了\n", "text", None),
        ("甲,情感倾向\n房间很干净,好评\n", "label", "情感倾向"),
        ("甲,乙\n房间很干净,好评\n", "label", None),
        ("甲,乙\n房间很干净,好评\n", "text_a", None),
        ("句子1,句子2\n房间很干净,好评\n", "text_b", "句子2"),
        ("正文,问题\n房间很干净,好评\n", "context", "正文"),
    ],
)
def test_a_column_is_taken_by_its_name_or_clear_content_else_asked_for(
    tmp_path: Path, content: str, field: str, column: str | None
) -> None:
    assert opened(write(tmp_path, "t.csv", content)).column_of(field) == column


def test_json_lines_may_have_different_columns(tmp_path: Path) -> None:
    lines = [{"content": "好", "n": 1}, {"content": None, "more": "x"}]
    path = write(tmp_path, "t.jsonl", "\n".join(map(json.dumps, lines)) + "\n\n")
    table = opened(path)

    assert table.columns == {"content": 1, "n": 0, "more": 1}
    assert table.column_of("text") == "content"
    assert [row for _, row in read_rows(CHINESE, path)] == lines


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("t.csv.gz", gzip.compress(b"text\na\n"), "只能读 .xlsx、.csv"),
        ("t.xls", b"\xd0\xcf\x11\xe0" + bytes(99), "旧式的 .xls 工作簿，或者设了密码"),
        ("t.xls", "<table><tr><td>好</td></tr></table>", "这不是 Excel 工作簿"),
        ("t.xlsx", workbook([["text"], ["很好"]])[:-99], "这不是 Excel 工作簿"),
        ("t.xlsx", zipped(), "解压后太大"),
        ("t.xlsx", zipped(b"0"), "工作簿读不了"),
        ("t.xlsx", half_a_sheet(), "工作簿读不了"),
        ("t.xlsx", workbook([]), "所有工作表的列名下面都没有内容"),
        ("t.xlsx", workbook([["text"], ['="很"&"好"']]), "所有工作表的列名下面都没有内容"),
        ("t.xlsx", workbook([["text", "text"], ["好", "差"]]), "空的或重复的列名"),
        ("t.json", '[{"text": "好"}, ', "JSON 数组读不了"),
        ("t.json", "[3, 4]", "第 1 行不是一个 JSON 对象"),
        ("t.csv", zipped(), "压缩包或 Excel"),
        ("t.jsonl", gzip.compress(b"{}"), "压缩包或 Excel"),
        ("t.csv", b"\x7fELF\0\0\0", "二进制"),
        ("t.csv", "text\n好\n".encode() + "很差\n".encode("gb18030"), "第 3 行不是 UTF-8"),
        ("t.csv", 'text\n"好\n', "引号没有配对"),
        ("t.csv", "text\n" + "好" * (2 * 10**6), "第 2 行有一个单元格超过"),
        ("t.csv", "text,b\n好\n", "第 2 行有 1 格，表头有 2 格"),
        ("t.csv", "text,text\n好,差\n", "空的或重复的列名"),
        ("t.csv", "", "没有数据"),
        ("t.csv", "\n \n", "没有数据"),
        ("t.csv", "text\n", "没有数据"),
        ("t.jsonl", "\n\n", "没有数据"),
        ("t.jsonl", "{}\n", "没有数据"),
        ("t.csv", "text\n　\n", "没有一个单元格是文字"),
        ("t.jsonl", '{"text": 3}\n', "没有一个单元格是文字"),
        ("t.jsonl", json.dumps({f"c{i}": "x" for i in range(201)}), "列数超过了 200"),
        ("t.jsonl", json.dumps({"text": "好" * (MAX_CELL + 1)}), "第 1 行有一个单元格超过"),
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
        open_table(ENGLISH, path)
    assert refused.value.notice.problem.isascii() or "“" in refused.value.notice.problem


def test_a_text_that_begins_as_an_archive_is_named_is_read(tmp_path: Path) -> None:
    path = write(tmp_path, "t.txt", "7zip 很好用\nRar! 也可以\n")
    assert opened(path).rows == 2
    packed = write(tmp_path, "t.csv", b"7z\xbc\xaf\x27\x1c\0\x04")
    with pytest.raises(RefusedError, match="压缩包"):
        opened(packed)


def test_utf16_without_a_mark_is_read(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "text,label\n很好,1\n".encode("utf-16-le"))
    assert opened(path).columns == {"text": 1, "label": 1}


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("t.tsv", b"\xff\xfa\xff\x80\n", "第 1 行不是 UTF-8"),
        ("t.tsv", b"text\tb\n\xff\xfa\n", "第 2 行不是 UTF-8"),
        ("t.csv", "text,label\r好,1\r", "旧式 Mac 的换行"),
        ("t.tsv", "text\tlabel\r好\t1\r", "旧式 Mac 的换行"),
        ("t.json", '[{"text": "' + "好" * 400_000 + '"}]', "第 1 行太长"),
        ("t.json", "[" + ",\n".join(['{"text": "room"}'] * 80_000) + "]", "JSON 数组太大"),
    ],
    ids=itertools.count(),
)
def test_why_a_file_cannot_be_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str | bytes, told: str
) -> None:
    monkeypatch.setenv("ZH_ALBERT_MAX_MB", "1")
    with pytest.raises(RefusedError, match=told):
        opened(write(tmp_path, name, content))


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl", "t.xlsx"])
def test_an_upload_that_was_removed_meanwhile_is_said_to_be_gone(tmp_path: Path, name: str) -> None:
    with pytest.raises(RefusedError, match="已经不在了"):
        list(read_rows(CHINESE, tmp_path / name))


def test_a_file_that_is_too_large_is_refused_unread(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "text\n")
    with path.open("r+b") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(RefusedError, match="最多收 100 MB"):
        opened(path)


def test_the_samples_can_be_read() -> None:
    assert opened(SAMPLES / "reviews.csv").columns == {"id": 30, "text": 30}
    assert opened(SAMPLES / "messages.csv").columns == {"text": 90, "label": 90}
