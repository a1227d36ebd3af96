"""Files of rows: each kind gives the same rows."""

from __future__ import annotations

import json
import math
from pathlib import Path

import openpyxl
import pytest

from zh_albert.errors import DataError
from zh_albert.files.textio import read_lines
from zh_albert.tables.objects import json_rows, read_objects

ROWS = [{"text": "房间很干净", "label": "好评"}, {"text": "味道太差了", "label": "差评"}]


def as_workbook(path: Path) -> Path:
    book = openpyxl.Workbook()
    book.active.title = "空"
    hidden = book.create_sheet("旧")
    hidden.append(["text"])
    hidden.append(["不要"])
    hidden.sheet_state = "hidden"
    sheet = book.create_sheet("评论")
    sheet.append(["文本", "标签"])
    for row in ROWS:
        sheet.append([*row.values()])
        sheet.append([])
    book.save(path)
    return path


def test_every_kind_of_file_has_the_same_rows(tmp_path: Path) -> None:
    lines = [json.dumps(row, ensure_ascii=False) for row in ROWS]
    files = {
        "a.jsonl": "\n\n".join(lines),
        "a.json": "[\n" + ",\n".join(lines) + "\n]",
        "a.csv": "text,label\n房间很干净,好评\n味道太差了,差评\n",
        "a.tsv": "text\tlabel\n房间很干净\t好评\n味道太差了\t差评\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
        assert [row for _, row in read_objects(tmp_path / name)] == ROWS
    with pytest.warns(UserWarning, match="column '文本'"):
        found = [row for _, row in read_objects(as_workbook(tmp_path / "a.xlsx"))]
    assert found == ROWS
    assert [row for _, row in read_objects(tmp_path / "a.xlsx", sheet="旧")] == [{"text": "不要"}]


def test_what_is_no_workbook_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.xls").write_bytes(b"\xd0\xcf\x11\xe0" + bytes(99))
    with pytest.raises(DataError, match=r"an old \.xls, or one with a password"):
        list(read_objects(tmp_path / "a.xls"))
    as_workbook(tmp_path / "a.xlsx")
    with pytest.raises(DataError, match="no sheet '新', but '空', '旧', '评论'"):
        list(read_objects(tmp_path / "a.xlsx", sheet="新"))
    with pytest.raises(DataError, match="no such file"):
        list(read_objects(tmp_path / "b.xlsx"))


@pytest.mark.filterwarnings("ignore:.*formulas that were never computed:UserWarning")
def test_cells_are_what_a_person_sees(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["text", "label", "when"])
    book.active.append([3.0, 1.0, None])
    book.active.append(["=1+1", True, "x"])
    book.save(tmp_path / "a.xlsx")
    found = [row for _, row in read_objects(tmp_path / "a.xlsx")]
    assert found[0] == {"text": "3", "label": "1", "when": ""}
    assert found[1]["label"] == "TRUE"


def test_an_array_with_something_else_in_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"text": "好"}, 3]')
    with pytest.raises(DataError, match=r"element 2: expected a JSON object .*, found int"):
        list(read_objects(tmp_path / "a.json"))
    rows = list(json_rows(read_lines(tmp_path / "a.json"), "a.json", in_place=True))
    assert [type(row) for _, row in rows] == [dict, DataError]
    (tmp_path / "a.json").write_text('[{"text": "好"}, ')
    with pytest.raises(DataError, match="not a JSON array that can be read"):
        list(read_objects(tmp_path / "a.json"))


def test_a_damaged_line_stands_in_its_place_if_asked() -> None:
    lines = iter([(1, '{"a": 1}'), (2, ""), (3, "{"), (4, '{"a": 2}')])
    first, blank, damaged, last = (row for _, row in json_rows(lines, "a", in_place=True))
    assert (first, blank, last) == ({"a": 1}, "", {"a": 2})
    assert "a, line 3: not JSON" in str(damaged)


def test_one_object_over_several_lines_is_read(tmp_path: Path) -> None:
    squad = {"data": [{"paragraphs": [{"context": "李华去了杭州", "qas": []}]}], "n": math.nan}
    (tmp_path / "a.json").write_text(json.dumps(squad, indent=1))
    assert list(read_objects(tmp_path / "a.json")) == [(1, squad | {"n": None})]
    (tmp_path / "a.jsonl").write_text('{"text": "好", "price": NaN, "far": -1e999}\n{\n', "utf-8")
    [first, second] = json_rows(read_lines(tmp_path / "a.jsonl"), "a.jsonl", in_place=True)
    assert first == (1, {"text": "好", "price": None, "far": None})
    assert isinstance(second[1], DataError)
