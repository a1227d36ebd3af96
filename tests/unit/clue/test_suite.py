"""Files of a task, before anything is learned from them."""

from __future__ import annotations

import bz2
import json
from pathlib import Path
from typing import Any

import pytest

from zh_albert.clue.suite import prepare
from zh_albert.clue.tasks import CLUE_TASKS
from zh_albert.errors import DataError
from zh_albert.training.events import Warned

ROWS = [
    {"text": "很好", "sentence": "很好", "label": "Positive"},
    {"text": "太差", "sentence": "太差", "label": "Negative"},
]


def content(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def test_files_in_the_task_format_may_be_packed_by_bzip2(tmp_path: Path) -> None:
    for name in ("train", "dev", "test"):
        (tmp_path / f"{name}.jsonl.bz2").write_bytes(bz2.compress(content(ROWS)))
    splits = prepare(CLUE_TASKS["eprstmt"], tmp_path, tmp_path / "out")
    assert splits.train == tmp_path / "train.jsonl.bz2"
    assert not (tmp_path / "out").exists()


def test_official_rows_without_an_answer_are_left_out_and_told(tmp_path: Path) -> None:
    for name in ("train_0", "dev_0", "test_public"):
        (tmp_path / f"{name}.json").write_bytes(content(ROWS))
    unanswered = [{"sentence": "还行"}]
    (tmp_path / "train_0.json").write_bytes(content([*unanswered, *ROWS]))
    told: list[Any] = []
    splits = prepare(CLUE_TASKS["eprstmt"], tmp_path, tmp_path / "out", progress=told.append)
    assert len(splits.train.read_text("utf-8").splitlines()) == 2
    [warned] = told
    assert isinstance(warned, Warned)
    assert "train_0.json: 1 of 3 rows left out" in warned.text

    (tmp_path / "test_public.json").write_bytes(content(unanswered))
    with pytest.raises(DataError, match=r", test_public\.json: expected rows with text and answer"):
        prepare(CLUE_TASKS["eprstmt"], tmp_path, tmp_path / "out")
