"""``clue check`` never fails on a broken submission: it says what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zh_albert.clue.checking import faults_in
from zh_albert.clue.submission import write_submission
from zh_albert.clue.tasks import CLUE_TASKS

TEXTS = [{"id": number, "text": "去台湾", "sentence": "股市"} for number in range(3)]
QUESTIONS = [{"id": f"Q{number}", "question": "何时？", "answers": []} for number in range(3)]
PASSAGE = {"content": ["#idiom1#和#idiom2#"], "candidates": ["一心一意", "三心二意"]}
PLACE = {"start": 1, "end": 3, "type": "address", "text": "台湾"}
CASES: dict[str, tuple[list[Any], list[Any], list[Any]]] = {
    "tnews": (TEXTS, [0, 1, 2], ["104", "107", "104"]),
    "cluener": (TEXTS, [0, 1, 2], [[PLACE], [], [PLACE]]),
    "chid": ([PASSAGE], ["#idiom1#", "#idiom2#"], [1, 0]),
    "cmrc2018": (
        [{"data": [{"paragraphs": [{"context": "二月来", "qas": QUESTIONS}]}]}],
        ["Q0", "Q1", "Q2"],
        ["二月"] * 3,
    ),
}
JUNK = [b"null", b'"\\ud800"', b"[]", b"{}", b"-1", b"\xff", b"\n", b'"', b",", b"[[1, 2]]", b"NaN"]
EDITS = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 8), st.sampled_from(JUNK)), min_size=1, max_size=3
)


@pytest.mark.parametrize("name", CASES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=EDITS)
def test_whatever_stands_in_a_submission_is_told(
    tmp_path: Path, name: str, edits: list[tuple[float, int, bytes]]
) -> None:
    task, (rows, ids, answers) = CLUE_TASKS[name], CASES[name]
    data, file = tmp_path / "test.json", tmp_path / "submission.json"
    data.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    write_submission(task, ids, answers, file)
    assert faults_in(task, file, data) == []
    content = bytearray(file.read_bytes())
    for place, cut, junk in edits:
        start = round(place * len(content))
        content[start : start + cut] = junk
    file.write_bytes(content)

    for fault in faults_in(task, file, data):
        fault.problem.encode()  # can be printed
