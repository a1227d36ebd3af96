"""Texts of evaluation data, found in a corpus."""

from __future__ import annotations

import json

import openpyxl
import pytest

from corpora_tools.decontamination import contaminated, contamination_index, evaluation_texts
from zh_albert.errors import DataError

PROSE = "清晨的湖面上有一层薄雾，老船夫慢慢地划着桨。"
EVALUATION = "这家酒店的房间很干净，服务也很好，下次来北京还会再住这里。"


@pytest.mark.parametrize(
    ("paragraph", "dropped"),
    [
        (EVALUATION, True),
        ("前面有话：" + EVALUATION[:24] + "然后说了别的。", True),  # 20 Chinese characters and more
        (
            "前面有话：这 家 酒店的房间很干净!服务也很好 下次来北京2024，还",
            True,
        ),  # marks do not count
        ("前面有话：" + EVALUATION[:20] + "然后说了别的。", False),  # 18
        ("“房间很好！”", True),  # as a whole
        ("房间很好，服务不好。", False),
        ("很好", False),
        ("", False),
    ],
)
def test_twenty_shared_characters_are_contamination(paragraph, dropped):
    index = contamination_index([EVALUATION, "房间很好", "很好"])
    assert contaminated([PROSE, paragraph, PROSE], index) == [False, dropped, False]


def test_a_stretch_over_two_paragraphs_does_not_count():
    index = contamination_index([EVALUATION])
    assert contaminated([EVALUATION[:14], EVALUATION[14:]], index) == [False, False]


def test_texts_of_any_task_schema_are_found(tmp_path):
    rows = [
        {"text": "甲", "label": "正面", "id": 3},
        {"text_a": "乙", "text_b": "丙"},
        {"id": "q1", "context": "丁", "question": "戊", "answers": [{"text": "己", "start": 0}]},
        {"text": "庚", "entities": [{"start": 0, "end": 1, "type": "PER"}], "choices": ["辛"]},
    ]
    task = tmp_path / "dev.jsonl"
    task.write_text("\n".join(json.dumps(row) for row in rows))
    lines = tmp_path / "dev.tsv"
    lines.write_text("壬\t0\n癸\t1\n", "utf-8")

    assert "".join(evaluation_texts(task)) == "甲乙丙丁戊己庚辛"
    assert list(evaluation_texts(lines)) == ["壬\t0", "癸\t1"]
    with pytest.raises(DataError, match="expected one with 4 Chinese characters"):
        contamination_index(["a", "好"])


def test_texts_before_labels_and_tags_are_found_without_them(tmp_path):
    pairs = tmp_path / "lcqmc.tsv"
    pairs.write_text("明天会下雨吗\t明天有没有雨\t1\n苹果多少钱\t天气怎么样\t0\n", "utf-8")
    tagged = tmp_path / "dev.bio"
    tagged.write_text("李\tB-PER\n华\tI-PER\n走\tO\n\n他\tO\n", "utf-8")

    assert [*evaluation_texts(pairs)] == [
        "明天会下雨吗",
        "明天有没有雨",
        "苹果多少钱",
        "天气怎么样",
    ]
    assert [*evaluation_texts(tagged)] == ["李华走", "他"]


def test_texts_of_a_table_are_found_without_its_labels(tmp_path):
    table = tmp_path / "dev.csv"
    table.write_text("text,label\n房间很好,正面\n", "utf-8")
    book = openpyxl.Workbook()
    for row in (["text", "label"], ["房间很好", "正面"]):
        book.active.append(row)
    book.save(tmp_path / "dev.xlsx")
    assert list(evaluation_texts(table)) == ["房间很好"]
    assert list(evaluation_texts(tmp_path / "dev.xlsx")) == ["房间很好"]
