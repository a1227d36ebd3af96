"""Official CLUE files → the task format: made-up rows of every form, and the real samples."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from zh_albert.clue.readers import read_official
from zh_albert.clue.tasks import CLUE_TASKS
from zh_albert.errors import DataError


def read(task: str, path: Path, *rows: Any, whole: bool = False) -> list[dict[str, Any]]:
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text(lines[0] if whole else "\n".join(lines) + "\n", encoding="utf-8")
    return list(read_official(CLUE_TASKS[task], path))


def test_headlines_get_the_readable_label(tmp_path: Path) -> None:
    row = {"label": "104", "label_desc": "news_finance", "sentence": "股市", "keywords": ""}
    test = {"id": 7, "sentence": "股市", "keywords": ""}

    rows = read("tnews", tmp_path / "train.json", row, test)

    assert rows == [
        {"id": 0, "text": "股市", "label": "news_finance"},
        {"id": 7, "text": "股市"},
    ]


def test_pairs_without_a_majority_are_left_out(tmp_path: Path) -> None:
    rows = [
        {"id": number, "sentence1": "他来了", "sentence2": "他在", "label": label}
        for number, label in enumerate(["entailment", "-", "neutral"])
    ]
    found = read("ocnli", tmp_path / "dev.json", *rows)
    assert [(row["id"], row["label"]) for row in found] == [(0, "entailment"), (2, "neutral")]
    assert found[0]["text_a"] == "他来了"


def test_keywords_stand_before_the_abstract(tmp_path: Path) -> None:
    row = {"id": 1, "abst": "本文讨论", "keyword": ["水声学", "FFT"], "label": "1"}
    (found,) = read("csl", tmp_path / "dev.json", row)
    assert found == {"id": 1, "text_a": "水声学 FFT", "text_b": "本文讨论", "label": "all_real"}


def test_a_pronoun_is_found_in_the_official_row(tmp_path: Path) -> None:
    target = {"span1_text": "小明", "span1_index": 0, "span2_text": "他", "span2_index": 3}
    row = {"target": target, "idx": 3, "label": "true", "text": "小明说他饿了"}
    (found,) = read("cluewsc2020", tmp_path / "dev.json", row)
    spans = {"span1": {"text": "小明", "start": 0}, "span2": {"text": "他", "start": 3}}
    assert found == {"id": 3, "text": "小明说他饿了", **spans, "label": "true"}
    target["span2_index"] = 2
    with pytest.raises(
        DataError, match="line 1: \"span2\" says '他', but the text from 2 on is '说'"
    ):
        read("cluewsc2020", tmp_path / "dev.json", row)


def test_entities_end_behind_their_last_character(tmp_path: Path) -> None:
    row = {"text": "去台湾和台湾", "label": {"address": {"台湾": [[1, 2], [4, 5]]}}}
    (found,) = read("cluener", tmp_path / "dev.json", row)
    assert found["entities"] == [
        {"start": 1, "end": 3, "type": "address"},
        {"start": 4, "end": 6, "type": "address"},
    ]
    wrong = {"text": "去台湾", "label": {"address": {"台湾": [[1, 3]]}}}
    with pytest.raises(DataError, match="line 2: unknown type 'place'"):
        read("cluener", tmp_path / "x.json", row, {"text": "去", "label": {"place": {}}})
    (found,) = read("cluener", tmp_path / "x.json", wrong)  # past the end of the text
    assert found["entities"] == [{"start": 1, "end": 3, "type": "address"}]
    wrong["label"]["address"] = {"台湾": [[0, 1]]}
    with pytest.raises(DataError, match="line 1: expected '台湾' at 0–1, found '去台'"):
        read("cluener", tmp_path / "x.json", wrong)


@pytest.mark.parametrize(
    "label", ["", ["台湾"], {"address": ["台湾"]}, {"address": {"台湾": [1, 2]}}]
)
def test_entities_in_another_form_are_named_with_their_line(tmp_path: Path, label: Any) -> None:
    right = {"text": "去台湾", "label": {"address": {"台湾": [[1, 2]]}}}
    with pytest.raises(DataError, match=r'line 2: "label" must be \{type: .*, found '):
        read("cluener", tmp_path / "a.json", right, {"text": "去台湾", "label": label})


def test_labels_may_be_numbers_or_truth_values(tmp_path: Path) -> None:
    target = {"span1_text": "猫", "span1_index": 0, "span2_text": "它", "span2_index": 2}
    row = {"target": target, "text": "猫说它饿", "label": True}
    assert read("cluewsc2020", tmp_path / "a.json", row)[0]["label"] == "true"
    row = {"sentence": "股市", "label": 104}
    assert read("tnews", tmp_path / "a.json", row)[0]["label"] == "news_finance"


@pytest.mark.parametrize("label", [None, ""])
def test_an_empty_label_is_none(tmp_path: Path, label: str | None) -> None:
    (row,) = read("tnews", tmp_path / "test.json", {"id": 7, "sentence": "股市", "label": label})
    assert row == {"id": 7, "text": "股市"}


def test_an_odd_row_is_found_by_the_one_before(tmp_path: Path) -> None:
    asked = [{"id": "Q0", "question": "谁?"}, {"id": "Q1", "question": "谁?", "answers": None}]
    article = {"paragraphs": [{"context": "越南", "qas": asked}]}
    with pytest.raises(DataError, match="not an official file of cmrc2018 after row 1 "):
        read("cmrc2018", tmp_path / "a.json", {"data": [article]})


def test_answers_are_found_where_the_offset_is_wrong(tmp_path: Path) -> None:
    answers = [{"text": "二月", "answer_start": 5}, {"text": "2月", "answer_start": 0}]
    paragraph = {
        "context": "二月来，二月走。",
        "qas": [
            {"id": "Q0", "question": "何时？", "answers": answers},
            {"id": "Q1", "question": "为何？", "answers": [{"text": "", "answer_start": -1}]},
        ],
    }
    rows = read("cmrc2018", tmp_path / "d.json", {"data": [{"paragraphs": [paragraph]}]})
    assert rows[0]["answers"] == [{"text": "二月", "start": 4}]
    assert rows[0]["reference_texts"] == ["二月", "2月"]
    assert "answers" not in rows[1]  # the test's placeholder


def test_turns_become_one_context(tmp_path: Path) -> None:
    question = {"question": "谁?", "choice": ["甲", "乙"], "answer": "乙"}
    asked = {"question": "谁?", "choice": ["甲", "乙"], "id": 12}
    rows = read("c3", tmp_path / "d.json", [[["男：好", "女：行"], [question, asked], "1-2"]])
    assert rows[0] == {
        "id": "1-2-0",
        "context": "男：好\n女：行",
        "question": "谁?",
        "choices": ["甲", "乙"],
        "label": 1,
    }
    assert (rows[1]["id"], "label" in rows[1]) == (12, False)


def test_each_blank_of_a_passage_is_a_question(tmp_path: Path) -> None:
    passage = {
        "content": ["“#idiom000001#”和#idiom000002#"],
        "candidates": ["一心一意", "三心二意"],
    }
    path = tmp_path / "dev.json"
    assert "label" not in read("chid", path, passage)[0]
    key = {"#idiom000001#": 1, "#idiom000002#": 0}
    (tmp_path / "dev_answer.json").write_text(json.dumps(key), encoding="utf-8")

    first, second = read("chid", path, passage)

    assert first["id"] == "#idiom000001#"
    assert first["context"] == '"#idiom#"和____'
    assert second["context"] == '"____"和#idiom#'
    assert (first["label"], second["label"]) == (1, 0)
    assert first["group"] == second["group"]


def test_a_file_of_another_task_is_refused(tmp_path: Path) -> None:
    pair = {"sentence1": "一", "sentence2": "二", "label": "0"}
    with pytest.raises(DataError, match='line 1: expected a string under "sentence"'):
        read("tnews", tmp_path / "a.json", pair)
    with pytest.raises(DataError, match="line 1: unknown label '7'"):
        read("afqmc", tmp_path / "a.json", {**pair, "label": "7"})
    with pytest.raises(DataError, match="not an official file of c3"):
        read("c3", tmp_path / "a.json", [1, 2], whole=True)
    with pytest.raises(DataError, match='expected one JSON object with "data"'):
        read("drcd", tmp_path / "a.json", [1], whole=True)
    with pytest.raises(DataError, match="expected one JSON value"):
        read("drcd", tmp_path / "a.json", {"a": 1}, {"b": 1})


PASSAGE = {"content": ["他#idiom000001#"], "candidates": ["一心一意", "三心二意"]}
ASKED = {"question": "谁?", "choice": ["甲", "乙"], "answer": "乙"}


@pytest.mark.parametrize(
    ("task", "row", "problem"),
    [
        ("chid", {**PASSAGE, "content": "他#idiom#"}, 'line 1: "content" must be a list of str'),
        ("chid", {**PASSAGE, "candidates": [["甲"]]}, 'line 1: "candidates" must be a list of'),
        ("chidf", {"content": "#idiom#", "candidates": "甲乙"}, '"candidates" must be a list of'),
        ("c3", ["男：好", [ASKED], "1-1"], 'document 1-1: "text" must be a list of strings'),
        ("c3", [["好"], [{**ASKED, "choice": "甲乙"}], "1"], '"choice" must be a list of strings'),
        (
            "cluener",
            {"text": "王一", "label": {"name": {"": [[-3, 1]]}}},
            "line 1: expected '' at -3–1",
        ),
        ("cmnli", {"sentence1": "一", "sentence2": "二", "gold_label": "neutral"}, "'gold_label'"),
    ],
)
def test_a_file_of_another_version_is_refused(
    tmp_path: Path, task: str, row: Any, problem: str
) -> None:
    whole = isinstance(row, list)
    with pytest.raises(DataError, match=re.escape(problem)):
        read(task, tmp_path / "a.json", [row] if whole else row, whole=whole)


@pytest.mark.parametrize(("task", "content"), [("tnews", ""), ("drcd", '{"data": []}')])
def test_a_file_without_rows_is_refused(tmp_path: Path, task: str, content: str) -> None:
    path = tmp_path / "test.json"
    path.write_text(content)
    with pytest.raises(DataError, match="found none; is it of another task or version"):
        list(read_official(CLUE_TASKS[task], path))


@pytest.mark.data
@pytest.mark.parametrize(
    ("task", "sample", "converted"),
    [
        ("afqmc", "afqmc/raw_sample/train.json", "afqmc/train.jsonl.xz"),
        ("tnews", "tnews/raw_sample/train.json", "tnews/train.jsonl.xz"),
        ("iflytek", "iflytek/raw_sample/dev.json", "iflytek/dev.jsonl.xz"),
        ("ocnli", "ocnli/raw_sample/train.50k.json", "ocnli/train.jsonl.xz"),
        ("cluewsc2020", "cluewsc2020/raw_sample/train.json", "cluewsc2020/train.jsonl"),
        ("csl", "csl/raw_sample/dev.json", None),
        ("cmrc2018", "cmrc2018/raw_sample/train.json", "cmrc2018/train.jsonl.xz"),
        ("drcd", "drcd/raw_sample/DRCD_dev.json", "drcd/dev.jsonl.xz"),
        ("c3", "c3/raw_sample/m-train.json", "c3/train.jsonl.xz"),
        ("cluener", "cluener/raw_sample/train.json", "cluener/train.jsonl.xz"),
        ("cluener", "cluener/raw_sample/test.json", None),
        ("eprstmt", "fewclue_eprstmt/raw_sample/train_0.json", "fewclue_eprstmt/train.jsonl"),
        ("csldcp", "fewclue_csldcp/raw_sample/train_0.json", "fewclue_csldcp/train.jsonl.xz"),
        ("bustm", "fewclue_bustm/raw_sample/train_0.json", "fewclue_bustm/train.jsonl"),
        ("chidf", "fewclue_chid/raw_sample/train_0.json", "fewclue_chid/train.jsonl"),
    ],
)
def test_the_official_samples_give_the_rows_that_others_made_of_them(
    data: Path, task: str, sample: str, converted: str | None
) -> None:
    from zh_albert.tables.objects import read_objects

    rows = list(read_official(CLUE_TASKS[task], data / "tasks" / sample))
    assert rows
    if converted is None:
        return
    names = [name for name in rows[0] if name not in ("id", "reference_texts")]
    known = {key(row, names) for _, row in read_objects(data / "tasks" / converted)}
    assert {key(row, names) for row in rows} <= known


def key(row: dict[str, Any], names: list[str]) -> str:
    return json.dumps([row.get(name) for name in names], ensure_ascii=False, sort_keys=True)
