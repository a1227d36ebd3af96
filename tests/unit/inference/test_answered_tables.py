"""Tables of answers: full sheets, and what a job that fails leaves behind."""

from __future__ import annotations

import tempfile
from pathlib import Path

import openpyxl
import pytest

from zh_albert.inference import answered_tables
from zh_albert.inference.answered_tables import answered_table


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


def interrupted(path: Path) -> None:
    with answered_table(path) as table:
        table.write({"文本": "好"}, {"label": "好"})
        raise KeyboardInterrupt


def test_a_job_that_fails_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        interrupted(tmp_path / "a.xlsx")
    assert not list(tmp_path.iterdir())
