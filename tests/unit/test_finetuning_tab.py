"""Teaching a classifier in the page, without a browser: the data, the job, its panels."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from apps.finetuning_job import FinetuningJob
from apps.finetuning_panels import data_panel, learning_panel
from apps.labelled import MAX_ROWS, Labelled, read_labelled
from apps.tables import RefusedError, Table, open_table
from apps.texts.languages import CHINESE, ENGLISH
from tests.micro import save_micro_pretrained
from zh_albert import load
from zh_albert.training import run_folder

SAMPLE = Path(__file__).parents[2] / "apps" / "samples" / "messages.csv"


def table(folder: Path, content: str) -> Table:
    path = folder / "t.csv"
    path.write_text(content, encoding="utf-8")
    return open_table(CHINESE, path, "t.csv")


def rows(*labels: str, texts: int = 5) -> str:
    return "".join(
        f"{label}的第{number}句,{label}\n" for label in labels for number in range(texts)
    )


def labelled(folder: Path, content: str) -> Labelled:
    return read_labelled(CHINESE, table(folder, content), "text", "label")


def test_the_sample_is_split_by_label_the_same_way_every_time() -> None:
    sample = open_table(CHINESE, SAMPLE, SAMPLE.name)
    first, second = (read_labelled(CHINESE, sample, "text", "label") for _ in range(2))

    assert first == second
    assert first.counts == {"物流": 30, "退换": 30, "咨询": 30}
    assert (len(first.train), len(first.dev)) == (72, 18)
    assert not {one.text for one in first.train} & {one.text for one in first.dev}
    assert first.problems == []


def test_rows_that_cannot_be_learned_from_are_left_out_and_counted(tmp_path: Path) -> None:
    bad = "甲的第0句,甲\n甲的第1句,乙\n,甲\n无标签,\n孤单,丙\n" + "长" * 1001 + ",甲\n"
    data = labelled(tmp_path, "text,label\n" + rows("甲", "乙") + bad)

    assert data.counts == {"甲": 5, "乙": 5}
    assert set(data.problems) == {
        "1 行和前面重复",
        "1 行的文本前面出现过，标签却不同",
        "1 行没有文本",
        "1 行没有标签",
        "1 行的标签太少见（不到 4 条）",
        "1 行超过 1,000 个字符",
    }
    panel = data_panel(ENGLISH, table(tmp_path, "text,label\n" + rows("甲", "乙")), data)
    assert "8 to learn from, 2 for the examination" in panel


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (rows("甲"), "至少要有两种标签"),
        (rows("甲", "乙", texts=3), "每种不少于 4 条"),
        (rows(*map(str, range(51)), texts=4), "标签超过 50 种"),
        (rows("甲", texts=MAX_ROWS + 1), "最多学 2000 行"),
    ],
)
def test_what_cannot_be_learned_is_refused(tmp_path: Path, content: str, told: str) -> None:
    with pytest.raises(RefusedError) as refused:
        labelled(tmp_path, "text,label\n" + content)
    assert told in refused.value.notice.problem


def test_one_column_cannot_be_both(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="同一列"):
        read_labelled(CHINESE, table(tmp_path, "text,label\n" + rows("甲")), "text", "text")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_micro_pretrained(tmp_path_factory.mktemp("encoder") / "encoder", max_length=128)


def job_for(folder: Path, encoder: Path, epochs: int) -> FinetuningJob:
    job = FinetuningJob(
        labelled(folder, "text,label\n" + rows("甲", "乙")), encoder, epochs, "t-model"
    )
    job.folder = folder / "job"
    job.folder.mkdir()
    return job


def test_a_job_learns_shows_its_curves_and_packs_a_folder_that_opens(
    tmp_path: Path, encoder: Path
) -> None:
    job, held = job_for(tmp_path, encoder, epochs=3), set(run_folder._HELD)
    assert "前面还有 1 个任务" in learning_panel(CHINESE, job, 1)
    job.run()

    assert job.failure is None
    assert job.state == "done"
    assert job.losses
    assert len(job.accuracies) == 3
    panel = learning_panel(CHINESE, job, 0)
    assert panel.count("<svg") == 2
    assert "学完了" in panel
    assert f"{job.best:.0%}" in panel
    assert job.classifier
    assert job.classifier("甲的一句")[0].label in ("甲", "乙")
    assert job.packed
    with zipfile.ZipFile(job.packed) as archive:
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
    assert "留下到目前为止最好的模型" in learning_panel(CHINESE, job, 0)


def test_a_job_that_is_stopped_at_once_has_learned_nothing(tmp_path: Path, encoder: Path) -> None:
    job = job_for(tmp_path, encoder, epochs=3)
    job.stop()
    job.run()

    assert job.state == "stopped"
    assert "还没有学到东西" in learning_panel(CHINESE, job, 0)
