"""``clue check``: every planted fault is seen, at its line, and right submissions have none."""

from __future__ import annotations

import json
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from zh_albert.clue.checking import Fault, check
from zh_albert.clue.submission import write_submission
from zh_albert.clue.tasks import CLUE_TASKS
from zh_albert.errors import ConfigError, DataError


def lines(path: Path, *rows: Any) -> Path:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def headlines(tmp_path: Path) -> Path:
    """A test file of twelve headlines."""
    rows = ({"id": number, "sentence": "股市", "keywords": ""} for number in range(12))
    return lines(tmp_path / "test.json", *rows)


def test_a_right_submission_has_no_fault(headlines: Path, tmp_path: Path) -> None:
    file = tmp_path / "tnews11_predict.json"
    write_submission(CLUE_TASKS["tnews"], range(12), ["104"] * 12, file)
    assert check(CLUE_TASKS["tnews"], file, headlines) == []
    first = json.loads(file.read_text("utf-8").splitlines()[0])
    assert first == {"id": 0, "label": "104", "label_desc": "news_finance"}


def test_a_label_that_is_null_is_not_called_missing(headlines: Path, tmp_path: Path) -> None:
    file = lines(tmp_path / "tnews11_predict.json", {"id": 0, "label": None})
    told = [fault.problem for fault in check(CLUE_TASKS["tnews"], file, headlines)]
    assert "the label must be a string, found None" in told


def test_a_name_that_is_half_a_character_can_be_shown(headlines: Path, tmp_path: Path) -> None:
    file = tmp_path / "tnews11_predict.json"
    file.write_text('{"id": 0, "\\ud83d": "104"}\n', encoding="utf-8")
    told = [fault.problem for fault in check(CLUE_TASKS["tnews"], file, headlines)]
    assert any("found fields 'id', '\\ud83d'" in problem for problem in told)
    assert "".join(told).encode()


def test_ten_planted_faults_are_all_seen(headlines: Path, tmp_path: Path) -> None:
    good = '{"id": %d, "label": "104"}\n'
    file = tmp_path / "tnews_predict.json"  # 1: neither tnews11 nor tnews10
    file.write_bytes(
        b"\xef\xbb\xbf"  # 2: a byte-order mark
        + (good % 0).encode()
        + b'{"id": 1, "label": "news_finance"}\n'  # 3: the name of a label
        + b'{"id": 2, "label": 104}\n'  # 4: a number
        + b'{"id": 3, "label": "105"}\n'  # 5: no such label
        + b'{"id": 4, "label": "104", "label_desc": "news_car"}\n'  # 6: two labels
        + (good % 0).encode()  # 7: a second time; and 5 has none
        + b'{"id": 6, "label": "104"\n'  # 8: not JSON
        + b'{"id": 77, "label": "104"}\n'  # 9: not in the test file
        + b'{"id": 8, "label_desc": "\xb9\xc9\xca\xd0"}\n'  # 10: GB18030
        + b"".join((good % number).encode() for number in (9, 10, 11))
    )

    faults = check(CLUE_TASKS["tnews"], file, headlines)

    assert [fault.line for fault in faults] == [None, None, None, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    told = [fault.problem for fault in faults]
    assert told[0] == "the file must be named tnews11_predict.json, found tnews_predict.json"
    assert told[1] == "no answer for 4 ids: 5, 6, 7, 8"
    assert told[2] == "expected 12 answers, found 10"
    assert "byte-order mark" in told[3]
    assert "official label is '104'" in told[4]
    assert "must be a string, found 104" in told[5]
    assert "unknown label '105'" in told[6]
    assert "label 104 is news_finance, label_desc is 'news_car'" in told[7]
    assert "id 0 was answered in line 1" in told[8]
    assert "not JSON" in told[9]
    assert "id 77 is not in the test file" in told[10]
    assert "not UTF-8" in told[11]


def test_other_forms_and_order_are_seen(headlines: Path, tmp_path: Path) -> None:
    task, file = CLUE_TASKS["tnews"], tmp_path / "tnews11_predict.json"
    rows: list[Any] = [{"id": number, "label": "104"} for number in range(12)]
    rows[3], rows[4] = rows[4], rows[3]
    assert check(task, lines(file, *rows), headlines) == [
        Fault(4, "expected id 3 as in the test file, found 4")
    ]
    file.write_text(json.dumps(rows), encoding="utf-8")  # an array instead of lines
    assert (
        check(task, file, headlines)[-1].problem == "expected one JSON object a line, found a list"
    )
    file.write_text("null\n", encoding="utf-8")
    assert Fault(1, "expected a JSON object, found null") in check(task, file, headlines)
    rows[0] = {"idx": 0, "label": "104"}
    faults = check(task, lines(file, *rows), headlines)
    assert any(fault.line == 1 and 'expected "id"' in fault.problem for fault in faults)
    file.write_text("\n\n", encoding="utf-8")
    assert [fault.line for fault in check(task, file, headlines)] == [None, None, 1, 2]


def test_a_file_in_utf_16_is_one_fault(headlines: Path, tmp_path: Path) -> None:
    file = tmp_path / "tnews11_predict.json"
    file.write_text('{"id": 0, "label": "104"}\n' * 12, encoding="utf-16")
    (fault,) = check(CLUE_TASKS["tnews"], file, headlines)
    assert fault.problem.startswith("UTF-16, expected UTF-8; for example: iconv -f UTF-16")


def test_a_packed_submission_is_to_be_unpacked(headlines: Path, tmp_path: Path) -> None:
    file = tmp_path / "submission.zip"
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("tnews11_predict.json", "{}")
    with pytest.raises(DataError, match=r"expected text, found a zip archive .*; unpack it"):
        check(CLUE_TASKS["tnews"], file, headlines)


def test_a_name_that_stands_twice_in_a_line_is_seen(headlines: Path, tmp_path: Path) -> None:
    file = tmp_path / "tnews11_predict.json"
    rows = [f'{{"id": {number}, "label": "104"}}' for number in range(12)]
    rows[5] = '{"id": 5, "label": "104", "label": "102"}'
    file.write_text("\n".join(rows) + "\n")
    assert check(CLUE_TASKS["tnews"], file, headlines) == [Fault(6, "'label' occurs twice")]


def test_many_answers_are_checked_in_time_that_grows_with_their_number(tmp_path: Path) -> None:
    tags = [f"#idiom{number}#" for number in range(500_000, 540_000)]
    data, file = tmp_path / "test1.1.json", tmp_path / "chid11_predict.json"
    lines(data, {"content": tags, "candidates": ["一心一意", "三心二意"]})
    answers = dict.fromkeys(tags, 0) | {tags[-1]: 7}
    file.write_text(json.dumps(answers, indent=1), encoding="utf-8")
    begun = time.process_time()
    faults = check(CLUE_TASKS["chid"], file, data)
    assert time.process_time() - begun < 5  # more than 15, if by the square
    assert faults == [Fault(40_001, "the choices are 0 to 1, found 7")]


def test_the_version_says_which_name_is_right(headlines: Path, tmp_path: Path) -> None:
    task, file = CLUE_TASKS["tnews"], tmp_path / "tnews10_predict.json"
    write_submission(task, range(12), ["104"] * 12, file)
    assert len(check(task, file, headlines)) == 1  # test.json is that of 1.1
    assert check(task, file, headlines, version="1.0") == []
    (tmp_path / "test1.0.json").write_bytes(headlines.read_bytes())
    assert check(task, file, tmp_path) == []  # its name says it
    with pytest.raises(ConfigError, match=r"no test version '2'; known: '1.1', '1.0'"):
        check(task, file, headlines, version="2")
    with pytest.raises(DataError, match="cannot be read"):
        check(task, tmp_path / "none.json", headlines)


def test_few_examples_have_one_name_for_each_split(tmp_path: Path) -> None:
    test = lines(tmp_path / "test.json", {"id": 4, "sentence": "好"})
    for name in ("eprstmt_predict.json", "eprstmt_predict_3.json", "eprstmt_predict_all.json"):
        lines(tmp_path / name, {"id": 4, "label": "Positive"})
        assert check(CLUE_TASKS["eprstmt"], tmp_path / name, test) == []


def test_entities_must_stand_where_they_say(tmp_path: Path) -> None:
    test = lines(tmp_path / "test.json", {"id": 0, "text": "去台湾"}, {"id": 1, "text": "无"})
    file = tmp_path / "cluener_predict.json"

    def problems(label: Any) -> list[str]:
        lines(file, {"id": 0, "label": label}, {"id": 1, "label": {}})
        return [fault.problem for fault in check(CLUE_TASKS["cluener"], file, test)]

    assert problems({"address": {"台湾": [[1, 2]]}}) == []
    outside = "1–3 is outside the text of 3 characters; the end is inclusive"
    assert problems({"address": {"台湾": [[1, 3]]}}) == [outside]
    assert problems({"address": {"台湾": [[0, 1]]}}) == ["0–1 is '去台', not '台湾'"]
    assert problems({"address": {"去": [[0, 1]]}}) == [
        "0–1 is '去台', not '去'; the end is inclusive"
    ]
    assert problems({"place": {"台湾": [[1, 2]]}}) == ["unknown type 'place'"]
    assert "a place must be [start, last]" in problems({"address": {"台湾": [1, 2]}})[0]
    assert '"label" must be {type:' in problems([])[0]


def test_answers_must_be_parts_of_the_context(tmp_path: Path) -> None:
    questions = [{"id": f"Q{number}", "question": "何时？", "answers": []} for number in range(4)]
    article = {"paragraphs": [{"context": "二月来。", "qas": questions}]}
    test = tmp_path / "test.json"
    test.write_text(json.dumps({"data": [article]}), encoding="utf-8")
    file = tmp_path / "cmrc2018_predict.json"
    write_submission(CLUE_TASKS["cmrc2018"], ["Q0", "Q1", "Q2", "Q3"], ["二月"] * 4, file)
    assert check(CLUE_TASKS["cmrc2018"], file, test) == []
    answers = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps(dict(reversed(answers.items())), ensure_ascii=False), "utf-8")
    assert check(CLUE_TASKS["cmrc2018"], file, test) == []  # an object has no order
    file.write_text(
        '{\n"Q0": "三月",\n"Q1": 2,\n"Q2": "",\n"Q2": "二月",\n"Q9": "二月"\n}', encoding="utf-8"
    )

    faults = check(CLUE_TASKS["cmrc2018"], file, test)

    assert faults == [
        Fault(None, "id 'Q2' has several answers"),
        Fault(None, "no answer for 1 ids: Q3"),
        Fault(2, "the answer to Q0 is not in its context: '三月'"),
        Fault(3, "the answer to Q1 must be a string, found 2"),
        Fault(6, "id 'Q9' is not in the test file"),
    ]
    lines(file, {"id": "Q0"}, {"id": "Q1"})
    assert "not JSON: Extra data" in check(CLUE_TASKS["cmrc2018"], file, test)[-1].problem


def test_choices_are_numbers_of_choices(tmp_path: Path) -> None:
    passage = {"content": ["#idiom000001#"], "candidates": ["一心一意", "三心二意"]}
    test = lines(tmp_path / "test1.1.json", passage)
    file = tmp_path / "chid11_predict.json"
    write_submission(CLUE_TASKS["chid"], ["#idiom000001#"], [1], file)
    assert check(CLUE_TASKS["chid"], file, test) == []
    for answer, problem in ((2, "the choices are 0 to 1"), (True, "number of a choice")):
        file.write_text(json.dumps({"#idiom000001#": answer}), encoding="utf-8")
        assert problem in check(CLUE_TASKS["chid"], file, test)[0].problem


@pytest.mark.parametrize(("task", "field"), [("c3", "label"), ("chidf", "answer")])
def test_choices_in_lines(task: str, field: str, tmp_path: Path) -> None:
    described = CLUE_TASKS[task]
    test = tmp_path / next(iter(described.tests.values())).data
    if task == "c3":
        question = {"question": "谁?", "choice": ["甲", "乙"], "id": 0}
        test.write_text(json.dumps([[["男：好"], [question], "1"]]), encoding="utf-8")
    else:
        lines(test, {"id": 0, "candidates": ["甲", "乙"], "content": "#idiom#"})
    file = tmp_path / next(iter(described.tests.values())).submission
    write_submission(described, [0], [1], file)
    assert check(described, file, test) == []
    for wrong in ("x", "9" * 5000):
        lines(file, {"id": 0, field: wrong})
        assert "must be the number of a choice" in check(described, file, test)[0].problem
