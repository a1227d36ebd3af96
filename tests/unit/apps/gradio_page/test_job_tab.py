"""What a page that is loaded again finds of its job."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import gradio as gr

from apps.jobs import JobQueue
from apps.tables import open_table
from apps.tabs.batch.strings import CHINESE
from apps.tabs.batch.tab import BatchTab
from zh_albert.tasks.classification.predictor import Classification, Classifier


class Pleased(Classifier):
    """Finds every text positive."""

    metadata: ClassVar[dict[str, Any]] = {}
    pairs = False

    def __init__(self) -> None:
        pass

    def stream(self, texts: Iterable[Any]) -> Iterator[Any]:
        for _ in texts:
            yield Classification("positive", 0.75, {"positive": 0.75})


def test_a_job_outlives_its_upload(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("text\n很好\n", encoding="utf-8")
    table, jobs = open_table(CHINESE.page.tables, path), JobQueue(tmp_path)
    tab = BatchTab(CHINESE, {"mine": Pleased()}, jobs)
    tab._below, tab._shown_count = [], 5  # as a page that is laid out has them
    jobs.put("me", tab.new_job(table, ["text"], "mine"))
    end = time.monotonic() + 20
    while (job := tab.job_of("me")) and job.active and time.monotonic() < end:
        time.sleep(0.01)

    path.unlink()  # as Gradio does after two hours
    file, setting, found, _, _, panel, *_ = tab.found_again("me")

    assert file == gr.skip()
    assert setting == "mine"
    assert found is table
    assert "完成：1 行" in panel
