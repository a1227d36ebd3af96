"""Exact match and F1 of answers: against what CMRC 2018's script gave, and against the plain rule.

``cmrc2018_scores.jsonl`` holds made-up answers with the numbers of ``cmrc2018_evaluate.py``
(version 5) under Python 3, its English words cut by NLTK 3.10's Treebank rules.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zh_albert.tasks.reading.metrics import exact_match, mixed_words, overlap_f1, reading_metrics

ROWS = [
    json.loads(line)
    for line in Path(__file__).with_name("cmrc2018_scores.jsonl").read_text("utf-8").splitlines()
]


def test_scores_are_those_of_the_official_script() -> None:
    assert len(ROWS) == 250
    for row in ROWS:
        found = (
            exact_match(row["references"], row["answer"]),
            overlap_f1(row["references"], row["answer"]),
        )
        assert found == pytest.approx((row["exact_match"], row["f1"]), abs=1e-8), row
    scores = reading_metrics([row["references"] for row in ROWS], [row["answer"] for row in ROWS])
    assert scores == {
        "exact_match": pytest.approx(100 * sum(row["exact_match"] for row in ROWS) / 250),
        "f1": pytest.approx(100 * sum(row["f1"] for row in ROWS) / 250),
    }


def longest_common_run(first: str, second: str) -> int:
    runs = {first[a:b] for a in range(len(first)) for b in range(a + 1, len(first) + 1)}
    return max((len(run) for run in runs if run in second), default=0)


CHINESE = st.text("中国人民大学的", min_size=1, max_size=8)


@given(answer=CHINESE, references=st.lists(CHINESE, min_size=1, max_size=3))
def test_f1_is_that_of_the_longest_common_run_of_the_best_reference(
    answer: str, references: list[str]
) -> None:
    expected = 0.0
    for reference in references:
        common = longest_common_run(answer, reference)
        if common:
            precision, recall = common / len(answer), common / len(reference)
            expected = max(expected, 2 * precision * recall / (precision + recall))
    assert overlap_f1(references, answer) == pytest.approx(expected)
    assert exact_match(references, answer) == (answer in references)
    marked = f"《{'，'.join(answer)}》。"
    assert overlap_f1(references, marked) == pytest.approx(expected)


def test_what_is_common_need_not_be_at_the_same_place_but_in_one_piece() -> None:
    assert overlap_f1(["中国人民大学"], "中国大学") == pytest.approx(2 * 2 / 10)
    assert overlap_f1(["中国人民大学"], "人民") == pytest.approx(2 * 2 / 8)


def test_marks_go_without_a_gap_and_other_scripts_are_cut_by_spaces() -> None:
    assert mixed_words("a-b，c 𠮷野家、カナ") == ["abc", "𠮷", "野", "家", "カナ"]
    assert mixed_words("价格$3.50,约3,000元...") == [
        *("价", "格", "$", "3.50", ",", "约", "3,000", "元", "...")
    ]


def test_no_answer_counts_only_where_there_is_none() -> None:
    scores = reading_metrics([["中国"], [], [], ["中国"]], ["中国", "", "中国", ""])
    assert scores["exact_match"] == scores["f1"] == 50
    assert scores["per_kind"] == {
        "answerable": {"exact_match": 50, "f1": 50, "support": 2},
        "unanswerable": {"exact_match": 50, "f1": 50, "support": 2},
    }
    assert "per_kind" not in reading_metrics([["中国"]], [""])
