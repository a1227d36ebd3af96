"""Workbooks as offices make them: titles, formulas, merged cells, hidden sheets, damaged files."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from zh_albert.errors import DataError
from zh_albert.tables.objects import read_objects
from zh_albert.tables.workbook import stated_rows, workbook_rows
from zh_albert.tasks.classification.task import TASK as CLASSIFICATION

HEADER = ["订单", "评论内容", "情感"]
TEXTS = ["房间很干净", "太差了"]


def write(path: Path, rows: Sequence[Sequence[Any]], *, merged: str = "") -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    if merged:
        book.active.merge_cells(merged)
    book.save(path)
    return path


def rows_of(path: Path, **options: Any) -> list[tuple[int, dict[str, str]]]:
    return list(workbook_rows(path, **options))


def test_a_title_above_the_names_is_left_out_and_told(tmp_path: Path) -> None:
    rows = [["第三季度评论汇总"], [], HEADER, *([n, t, "好评"] for n, t in enumerate(TEXTS))]
    path = write(tmp_path / "a.xlsx", rows, merged="A1:C1")
    with pytest.warns(UserWarning, match="is left out: '第三季度评论汇总'"):
        found = rows_of(path)
    assert found[0] == (4, {"订单": "0", "评论内容": "房间很干净", "情感": "好评"})
    assert stated_rows(path) == 4  # an estimate


def test_a_title_above_names_that_are_not_known_is_left_out(tmp_path: Path) -> None:
    rows = [["客户投诉"], ["工单号", "手机号", "投诉内容"]]
    rows += [*([n, 138, t] for n, t in enumerate(TEXTS)), ["9"]]
    with pytest.warns(UserWarning, match="is left out: '客户投诉'"):
        found = rows_of(write(tmp_path / "a.xlsx", rows))
    assert found[0] == (3, {"工单号": "0", "手机号": "138", "投诉内容": "房间很干净"})


def test_a_column_of_texts_without_a_known_name_has_no_title(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", [["客人的话"], ["内容"], ["标题"]])
    assert [row for _, row in rows_of(path)] == [{"客人的话": "内容"}, {"客人的话": "标题"}]


def test_columns_without_a_name_are_told(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", [[None, "评论", "n"], [0, "好", 1, "改过"], [1, "差", 2]])
    with pytest.warns(UserWarning, match="line 2: cells in columns without a name are left out"):
        assert rows_of(path)[0][1] == {"评论": "好", "n": "1"}
    path = write(tmp_path / "b.xlsx", [["汇总"], ["张三", "房间很干净"]])
    with pytest.raises(DataError, match="line 2: expected a name for each column"):
        rows_of(path)


def test_formulas_that_were_never_computed_are_told(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", [["评论", "全文"], ["好", "=A2"]])
    with pytest.warns(UserWarning, match="formulas that were never computed .*; open the workbook"):
        assert rows_of(path) == [(2, {"评论": "好", "全文": ""})]
    # A spreadsheet program stores what it has computed.
    computed = tmp_path / "b.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(computed, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("sheet1.xml"):
                assert b"<v />" in content or b"<v></v>" in content
                content = content.replace(b"<v />", b"<v>1</v>").replace(b"<v></v>", b"<v>1</v>")
            new.writestr(name, content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rows_of(computed) == [(2, {"评论": "好", "全文": "1"})]


def test_a_label_that_merged_cells_leave_empty_is_named(tmp_path: Path) -> None:
    rows = [["text", "label"], *([text, "好评"] for text in TEXTS)]
    path = write(tmp_path / "a.xlsx", rows, merged="B2:B3")
    with pytest.raises(
        DataError, match=r'line 3: "label" is empty\. Of merged cells only the first'
    ):
        CLASSIFICATION.read(path)


def test_hidden_sheets_are_read_by_their_names_only(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    hidden = book.create_sheet("旧的")
    hidden.append(["评论"])
    hidden.append(["好"])
    hidden.sheet_state = "hidden"
    book.save(path := tmp_path / "a.xlsx")
    with pytest.raises(
        DataError, match="no sheet has rows below names of columns; hidden are '旧的'"
    ):
        rows_of(path)
    assert rows_of(path, sheet="旧的") == [(2, {"评论": "好"})]
    assert (stated_rows(path), stated_rows(path, "旧的")) == (None, 1)


@pytest.mark.parametrize("content", [b"", b"\xd0\xcf\x11\xe0" + b"\0" * 600, b"PK\x03\x04half"])
def test_old_encrypted_and_damaged_workbooks_are_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.xlsx").write_bytes(content)
    with pytest.raises(DataError, match=r"expected an \.xlsx workbook.*without a password"):
        list(read_objects(tmp_path / "a.xlsx"))
    assert stated_rows(tmp_path / "a.xlsx") is None


def test_a_zip_archive_is_no_workbook(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as archive:
        archive.writestr("a.txt", "x")
    with pytest.raises(DataError, match="no workbook that can be read"):
        rows_of(tmp_path / "a.xlsx")


def test_a_renamed_workbook_is_read_and_a_cut_one_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xls", [["text"], ["很好"]])
    assert rows_of(path) == [(2, {"text": "很好"})]
    (tmp_path / "b.xlsx").write_bytes(path.read_bytes()[:-99])
    with pytest.raises(DataError, match="found a file of another kind"):
        rows_of(tmp_path / "b.xlsx")


def test_a_wrong_size_of_a_sheet_loses_no_cells(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", [["text", "label"], ["很好", "好评"]])
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "b.xlsx", "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b'ref="A1:B2"', b'ref="A1"'))
    assert rows_of(tmp_path / "b.xlsx") == [(2, {"text": "很好", "label": "好评"})]


def test_the_sheet_is_told_where_others_are_used(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", [["text"], ["很好"]])
    book = openpyxl.load_workbook(path)
    book.create_sheet("空")
    book.create_sheet("说明").append(["三月"])
    book.save(path)
    with pytest.warns(UserWarning, match="read from sheet 'Sheet'; there are also '说明'$"):
        rows_of(path)


def test_escaped_characters_of_a_cell_are_read_as_what_they_are(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", [["text"], ["李华去了_x000D_\n杭州"], ["_x005F_x000D_"]])
    assert [row["text"] for _, row in rows_of(path)] == ["李华去了\r\n杭州", "_x000D_"]


@pytest.mark.parametrize("encrypted", [False, True])
@pytest.mark.parametrize(
    "part", ["_rels/workbook.xml.rels", "workbook.xml", "worksheets/sheet1.xml"]
)
def test_a_damaged_or_encrypted_part_is_one_line(
    tmp_path: Path, part: str, encrypted: bool
) -> None:
    path = write(tmp_path / "a.xlsx", [["text"], ["很好"]])
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        found = archive.getinfo(f"xl/{part}")
        listed = content.index(found.filename.encode(), archive.start_dir) - 46
    if encrypted:
        content[found.header_offset + 6] |= 1
        content[listed + 8] |= 1
    else:
        begin = found.header_offset + 30 + len(found.filename)
        content[begin : begin + found.compress_size] = b"\xff" * found.compress_size
    path.write_bytes(content)
    with pytest.raises(DataError, match="no workbook that can be read"):
        rows_of(path)
    assert stated_rows(path) is None


def test_a_folder_is_no_workbook(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").mkdir()
    with pytest.raises(DataError, match=r"a\.xlsx: expected a workbook, found a folder"):
        rows_of(tmp_path / "a.xlsx")
