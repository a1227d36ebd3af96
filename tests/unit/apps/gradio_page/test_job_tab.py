"""What a page that is loaded again finds of its job."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import gradio as gr

from apps.jobs import KEPT_S, JobQueue
from apps.tables import Table, open_table
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


def with_a_job_done(folder: Path, kept_s: float = KEPT_S) -> tuple[BatchTab, Table]:
    path = folder / "t.csv"
    path.write_text("text,rest\n很好,\n", encoding="utf-8")
    table, jobs = open_table(CHINESE.page.tables, path), JobQueue(folder, kept_s=kept_s)
    tab = BatchTab(CHINESE, {"mine": Pleased()}, jobs)
    tab._below, tab._shown_count = [], 5  # as a page that is laid out has them
    jobs.put("me", tab.new_job(table, ["text"], "mine"))
    end = time.monotonic() + 20
    while (job := tab.job_of("me")) and job.active and time.monotonic() < end:
        time.sleep(0.01)
    return tab, table


def test_a_job_outlives_its_upload(tmp_path: Path) -> None:
    tab, table = with_a_job_done(tmp_path)

    table.path.unlink()  # as Gradio does after two hours
    file, setting, found, _, _, panel, *_ = tab.found_again("me")

    assert file == gr.skip()
    assert setting == "mine"
    assert found is table
    assert "完成：1 行" in panel


def test_why_another_job_did_not_begin_stays_above_the_one_that_did(tmp_path: Path) -> None:
    tab, table = with_a_job_done(tmp_path)

    begun, *_ = tab.begin(table, "rest", None, "mine", "me")
    looked_at_again, *_ = tab.watch("me")

    assert "“rest”" in begun
    assert looked_at_again == begun
    assert "完成：1 行" in begun

    tab.columns_chosen(table, "text", None, "mine", "me")
    assert "“rest”" not in tab.watch("me")[0]


def test_a_page_that_slept_too_long_hears_that_its_job_was_given_up(tmp_path: Path) -> None:
    tab, _ = with_a_job_done(tmp_path, kept_s=1)
    end = time.monotonic() + 60
    while not tab._jobs.has_forgotten("me") and time.monotonic() < end:
        time.sleep(0.1)

    panel, *_ = tab.watch("me")

    assert CHINESE.page.forgotten.problem in panel
    assert tab.watch("nobody")[0] == gr.skip()
