"""The training of a classifier behind the page, and its panel."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from apps.tabs.finetuning.job import FinetuningJob
from apps.tabs.finetuning.panels import training_panel
from apps.tabs.finetuning.strings import CHINESE
from tests.helpers.datasets import dataset, rows
from tests.helpers.micro import save_micro_pretrained
from zh_albert import load
from zh_albert.training import run_folder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_micro_pretrained(tmp_path_factory.mktemp("encoder") / "encoder", max_length=128)


def job_for(folder: Path, encoder: Path, epochs: int) -> FinetuningJob:
    job = FinetuningJob(
        dataset(folder, "text,label\n" + rows("甲", "乙")), encoder, epochs, "t-model"
    )
    job.folder = folder / "job"
    job.folder.mkdir()
    return job


@pytest.mark.slow
def test_a_job_learns_shows_its_curves_and_packs_a_folder_that_opens(
    tmp_path: Path, encoder: Path
) -> None:
    job, held = job_for(tmp_path, encoder, epochs=3), set(run_folder._HELD)
    assert "前面还有 1 个任务" in training_panel(CHINESE, job, 1)
    job.run()

    assert job.failure is None
    assert job.state == "done"
    assert job.losses
    assert len(job.accuracies) == 3
    panel = training_panel(CHINESE, job, 0)
    assert panel.count("<svg") == 2
    assert "学完了" in panel
    assert f"{job.best:.0%}" in panel
    assert job.classifier
    assert job.classifier("甲的一句")[0].label in ("甲", "乙")
    with zipfile.ZipFile(job.outputs[0]) as archive:
        archive.extractall(tmp_path / "unpacked")
    folder = tmp_path / "unpacked" / "t-model"
    assert {path.name for path in folder.iterdir()} >= {"config.json", "README.md", "vocab.txt"}
    assert load(str(folder)).labels == job.classifier.labels
    assert set(run_folder._HELD) == held, "a page that goes on holds no folder"


def test_a_stopped_job_keeps_the_best_so_far(tmp_path: Path, encoder: Path) -> None:
    job = job_for(tmp_path, encoder, epochs=500)
    listen = job._listen

    def stop_after_two(event: object) -> None:
        if len(job.accuracies) == 2:
            job.stop()
        listen(event)  # type: ignore[arg-type]

    job._listen = stop_after_two  # type: ignore[method-assign]
    job.run()

    assert job.state == "stopped"
    assert len(job.accuracies) <= 3
    assert job.classifier is not None
    assert "保留了目前最好的模型" in training_panel(CHINESE, job, 0)


def test_a_job_that_is_stopped_at_once_has_learned_nothing(tmp_path: Path, encoder: Path) -> None:
    job = job_for(tmp_path, encoder, epochs=3)
    job.stop()
    job.run()

    assert job.state == "stopped"
    assert "还没有学到东西" in training_panel(CHINESE, job, 0)
