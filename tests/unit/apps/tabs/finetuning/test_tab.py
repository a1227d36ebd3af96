"""The box in which a trained model is tried."""

from __future__ import annotations

from pathlib import Path

from apps.jobs import JobQueue
from apps.tabs.finetuning.strings import CHINESE
from apps.tabs.finetuning.tab import FinetuningTab


def test_an_empty_box_asks_for_no_model(tmp_path: Path) -> None:
    tab = FinetuningTab(CHINESE, tmp_path, JobQueue(tmp_path))
    assert tab.tried(" ", "owner") == "", "it is emptied when another training begins"
    assert "模型已经不在了" in tab.tried("好", "owner")
