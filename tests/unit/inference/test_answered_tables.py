"""Tables of answers: full sheets, and what a job that fails leaves behind."""

from __future__ import annotations

import copy
import csv
import datetime
import tempfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from zh_albert.files.notes import listening
from zh_albert.inference import answered_tables
from zh_albert.inference.answered_tables import answered_table
from zh_albert.tables.objects import read_objects


def test_a_full_sheet_is_followed_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answered_tables, "_MOST_ROWS", 3)
    with answered_table(tmp_path / "a.xlsx") as table:
        for number in range(5):
            table.write({"文本": f"第{number}条"}, {"label": "好", "score": 0.5})
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    header = ("文本", "label", "score", "error")
    found = [list(sheet.iter_rows(values_only=True)) for sheet in book]
    assert book.sheetnames == ["answers", "answers 2", "answers 3"]
    assert [rows[0] for rows in found] == [header] * 3
    assert [row[0] for rows in found for row in rows[1:]] == [f"第{n}条" for n in range(5)]


def csv_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


SPOTS = [
    {"start": 1, "end": 13, "candidates": [{"text": "公园", "score": 0.5}, {"text": "海边"}]},
    {"start": 14, "end": 20, "candidates": [{"text": "花", "score": 0.9}]},
]
RANKED = [{"start": 0, "text": "杭州"}, {"start": 0, "text": ""}, {"start": 3, "text": "北京"}]


@pytest.mark.parametrize(
    ("answer", "cells"),
    [
        ({"spots": SPOTS}, {"spots": "公园 / 海边; 花"}),
        ({"words": ["他", "从", "马上"], "spans": [(0, 1)]}, {"words": "他 从 马上"}),
        (
            {"text": "杭州", "answers": [*RANKED, {"text": "上海"}]},
            {"predicted_text": "杭州", "answers": "北京 / 上海"},
        ),
        ({"entities": [{"text": "杭州", "type": "LOC"}]}, {"entities": "杭州/LOC"}),
        ({"labels": ["好", "快"], "scores": {"好": 0.9}}, {"labels": "好; 快"}),
    ],
)
def test_lists_of_an_answer_are_cells(
    tmp_path: Path, answer: dict[str, Any], cells: dict[str, str]
) -> None:
    with answered_table(tmp_path / "a.csv") as table:
        table.write({"text": "去"}, answer)
    assert csv_of(tmp_path / "a.csv") == [{"text": "去", **cells, "error": ""}]


def test_a_field_that_the_first_row_lacks_is_told_once_or_has_a_column(tmp_path: Path) -> None:
    rows = [{"text": "好"}, {"text": "差", "n": 1}, {"text": "慢", "n": 2, "m": 3}]
    with listening() as notes:
        for name, columns in (("a.csv", []), ("b.csv", ["text", "n", "m"])):
            with answered_table(tmp_path / name, columns=columns) as table:
                for row in rows:
                    table.write(row, {"label": "x"})
    [note] = notes
    assert (note.kind, "'n'" in str(note)) == ("lost_field", True)
    assert [row.get("n") for row in csv_of(tmp_path / "a.csv")] == [None] * 3
    assert [(row["n"], row["m"]) for row in csv_of(tmp_path / "b.csv")] == [
        ("", ""),
        ("1", ""),
        ("2", "3"),
    ]


@pytest.mark.parametrize(
    "context", ["一\r\n二\v杭州", "\x01杭州\x00", "\ufffe\r杭州", "\ud800杭州"]
)
def test_offsets_are_those_of_a_workbooks_cell(tmp_path: Path, context: str) -> None:
    start = context.index("杭州")
    row, answer = {"context": context}, {"start": start, "end": start + 2, "text": "杭州"}
    with answered_table(tmp_path / "a.xlsx") as table:
        table.write(row, answer)
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx").active
    _, (cell, start, end, text, _) = sheet.iter_rows(values_only=True)
    assert cell[start:end] == text
    assert len(cell) == len(context)


def interrupted(path: Path) -> None:
    with answered_table(path) as table:
        table.write({"文本": "好"}, {"label": "好"})
        raise KeyboardInterrupt


def test_a_job_that_fails_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        interrupted(tmp_path / "a.xlsx")
    assert not list(tmp_path.iterdir())


ODD = ["@张三 不错", "-好评", "=1+1", "#N/A", "_x000D_", "'好", "+86 好", "一_x41", "a\tb"]


def test_a_workbook_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    with answered_table(tmp_path / "a.xlsx") as table:
        for text in ODD:
            table.write({"text": text, "id": 1234567890123456789}, {"label": "x"})
    rows = [row for _, row in read_objects(tmp_path / "a.xlsx")]
    assert [row["text"] for row in rows] == ODD
    assert {row["id"] for row in rows} == {"1234567890123456789"}


@pytest.mark.parametrize("name", ["a.csv", "a.xlsx"])
def test_rows_of_which_none_could_be_read_have_their_errors(tmp_path: Path, name: str) -> None:
    with answered_table(tmp_path / name) as table:
        for number in (2, 3):
            table.write(None, {"label": None, "error": f"line {number}: damaged"})
    with answered_table(tmp_path / f"empty-{name}"):
        pass
    rows = [row for _, row in read_objects(tmp_path / name)]
    assert [row["error"] for row in rows] == ["line 2: damaged", "line 3: damaged"]


def test_numbers_and_dates_of_a_workbook_stay_such(tmp_path: Path) -> None:
    given = [datetime.datetime(2026, 5, 1), 4.5, 7, True, "007"]
    book = openpyxl.Workbook()
    book.active.append(["text", "date", "price", "stars", "bought", "id"])
    book.active.append(["很好", *given])
    book.save(tmp_path / "a.xlsx")
    with answered_table(tmp_path / "b.xlsx") as table:
        for _, row in read_objects(tmp_path / "a.xlsx"):
            assert row["date"] == "2026-05-01"
            table.write(copy.deepcopy(row), {"label": "x"})
    written = openpyxl.load_workbook(tmp_path / "b.xlsx").active
    assert [cell.value for cell in written[2]] == ["很好", *given, "x", None]
