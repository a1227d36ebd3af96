"""Labelled tables as datasets."""

from __future__ import annotations

from pathlib import Path

import pytest

from apps.gradio_page.job_tab import SAMPLES
from apps.tables import RefusedError, open_table
from apps.tabs.finetuning.dataset import MAX_ROWS, read_dataset
from apps.tabs.finetuning.panels import dataset_panel
from apps.tabs.finetuning.strings import CHINESE, ENGLISH
from tests.helpers.datasets import dataset, rows, table


def test_the_sample_is_split_by_label_the_same_way_every_time() -> None:
    sample = open_table(CHINESE.page.tables, SAMPLES / "messages.csv")
    first, second = (read_dataset(CHINESE, sample, "text", "label") for _ in range(2))

    assert first == second
    assert first.counts == {"物流": 30, "退换": 30, "咨询": 30}
    assert (len(first.train), len(first.dev)) == (72, 18)
    assert not {one.text for one in first.train} & {one.text for one in first.dev}
    assert first.problems == []


def test_rows_that_cannot_be_learned_from_are_left_out_and_counted(tmp_path: Path) -> None:
    bad = "甲的第0句,甲\n甲的第1句,乙\n,甲\n无标签,\n孤单,丙\n" + "长" * 1001 + ",甲\n"
    data = dataset(tmp_path, "text,label\n" + rows("甲", "乙") + bad)

    assert data.counts == {"甲": 5, "乙": 5}
    assert set(data.problems) == {
        "1 行和前面重复",
        "1 行的文本前面出现过，标签却不同",
        "1 行没有文本",
        "1 行没有标签",
        "1 行的标签太少见（不到 4 条）",
        "1 行超过 1,000 个字符",
    }
    panel = dataset_panel(ENGLISH, data)
    assert "8 to learn from, 2 for the examination" in panel


def test_names_of_a_label_that_look_alike_are_one(tmp_path: Path) -> None:
    texts = iter(range(100))
    names = ["好评", "好评 ", "\u3000好评\xa0", "1", "1.0", "0", "0.0"]
    lines = "".join(f"第{next(texts)}句,{name}\n" for name in names * 4)
    data = dataset(tmp_path, "text,label\n" + lines)
    assert data.counts == {"好评": 12, "1": 8, "0": 8}


def test_a_damaged_row_is_left_out_and_counted(tmp_path: Path) -> None:
    data = dataset(tmp_path, "text,label\n" + rows("甲", "乙") + "很好\n")
    assert data.problems == ["1 行读不了"]
    assert "有 1 行读不了，第一处在第 12 行" in dataset_panel(CHINESE, data)


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
        dataset(tmp_path, "text,label\n" + content)
    assert told in refused.value.notice.problem


def test_one_column_cannot_be_both(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="同一列"):
        read_dataset(CHINESE, table(tmp_path, "text,label\n" + rows("甲")), "text", "text")
