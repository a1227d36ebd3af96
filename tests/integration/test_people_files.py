"""Files as people bring them, through the commands: tables in any form, annotations of tools."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import openpyxl
import pytest

from tests.helpers.commands import QUICK, Cli
from tests.helpers.task_files import reviews
from zh_albert import load
from zh_albert.tables.objects import read_objects
from zh_albert.tasks.catalog import TASKS


@pytest.fixture
def table(tmp_path: Path) -> list[list[str]]:
    """Reviews as rows of a spreadsheet: numbers first, labels with stray blanks."""
    rows = [row for _, row in read_objects(reviews(tmp_path / "reviews.jsonl"))]
    blanks = ("", " ", "\u3000", "\xa0")
    cells = [[str(n), r["text"], f"{r['label']}{blanks[n % 4]}"] for n, r in enumerate(rows)]
    return [["订单号", "评论内容", "情感"], *cells]


def write_gbk(path: Path, table: list[list[str]]) -> None:
    with path.open("w", encoding="gb18030", newline="") as file:
        csv.writer(file).writerows(table)


def write_semicolons(path: Path, table: list[list[str]]) -> None:
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, delimiter=";").writerows([["", *row] for row in table])


def write_workbook(path: Path, table: list[list[str]]) -> None:
    book = openpyxl.Workbook()
    for row in table:
        book.active.append(row)
    book.save(path)


def write_utf16(path: Path, table: list[list[str]]) -> None:
    path.write_text("".join("\t".join(row) + "\r\n" for row in table), encoding="utf-16")


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("a.csv", write_gbk),
        ("b.csv", write_semicolons),
        ("c.xlsx", write_workbook),
        ("d.tsv", write_utf16),
    ],
)
@pytest.mark.filterwarnings("ignore:.*read as:UserWarning")
def test_a_table_is_learned_from_and_given_back(
    cli: Cli, micro: Path, tmp_path: Path, table: list[list[str]], name: str, write
) -> None:
    write(tmp_path / name, table)
    out = tmp_path / "model"
    files = ("--train", tmp_path / name, "--dev", tmp_path / name, "--init", micro, "--out", out)
    with pytest.warns(UserWarning, match=f"{name}: texts are read from column '评论内容'"):
        ran = cli("finetune", *files, *QUICK, "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["accuracy"] > 0.9
    assert "2 classes: " in ran.err
    with pytest.warns(UserWarning, match=name):
        answered = cli("predict", out, tmp_path / name, "--out", tmp_path / "answers.csv")
    assert answered.code == 0, answered.err
    with (tmp_path / "answers.csv").open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == [*table[0], "label", "score", "error"]
    assert [row[:3] for row in rows] == table[1:]
    model = load(str(out))
    assert [row[3] for row in rows] == [a.label for a in model([row[1] for row in rows])]


def test_one_bad_row_costs_no_other_its_answer(cli: Cli, trained: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [
        '{"text": "房间很干净"}',
        '{"text": null}',
        "{",
        "",
        '{"other": 1}',
        '{"text": "很差"}',
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    ran = cli("predict", trained, path)
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert ran.code == 0
    assert ["error" in row for row in rows] == [False, True, True, True, True, False]
    assert "line 2" in rows[1]["error"]
    assert "line 3: not JSON" in rows[2]["error"]
    assert "lines not answered: 4" in ran.err
    (tmp_path / "a.csv").write_text("text,n\n很好,1\n很好,啊,2\n很差,3\n", encoding="utf-8")
    rows = [
        json.loads(line) for line in cli("predict", trained, tmp_path / "a.csv").out.splitlines()
    ]
    assert ["error" in row for row in rows] == [False, True, False]
    assert "line 3: expected 2 cells as in the first row, found 3" in rows[1]["error"]
    (tmp_path / "a.csv").write_text("text,n\n很好,啊,2\n很差,3\n", encoding="utf-8")
    assert cli("predict", trained, tmp_path / "a.csv", "--out", tmp_path / "b.csv").code == 0
    with (tmp_path / "b.csv").open(encoding="utf-8-sig", newline="") as file:
        header, damaged, good = csv.reader(file)
    assert header == ["text", "n", "label", "score", "error"]
    assert damaged[:2] == ["", ""]
    assert "line 2: expected 2 cells" in damaged[4]
    assert (good[:2], good[4]) == (["很差", "3"], "")


def test_every_field_of_objects_has_a_column(cli: Cli, trained: Path, tmp_path: Path) -> None:
    lines = '{"text": "很好"}\n\n{"text": "很差", "n": 1, "label": "差"}\n'
    (tmp_path / "a.jsonl").write_text(lines, encoding="utf-8")
    assert cli("predict", trained, tmp_path / "a.jsonl", "--out", tmp_path / "b.csv").code == 0
    with (tmp_path / "b.csv").open(encoding="utf-8-sig", newline="") as file:
        header, first, _, last = csv.reader(file)
    assert header == ["text", "n", "label", "predicted_label", "score", "error"]
    assert (first[:3], last[:3]) == (["很好", "", ""], ["很差", "1", "差"])


def test_a_file_that_is_wrong_from_the_beginning_is_refused(
    cli: Cli, trained: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("甲,乙\n房间很干净,味道太差了\n", encoding="utf-8")
    ran = cli("predict", trained, tmp_path / "a.csv")
    assert (ran.code, ran.out) == (2, "")
    assert "field \"text\" is missing, found '甲', '乙'" in ran.err
    assert "--text-column" in ran.err
    assert cli("predict", trained, tmp_path / "a.csv", "--text-column", "乙").code == 0
    ran = cli("predict", trained, tmp_path / "a.csv", "--text-column", "乙", "--out", "a.doc")
    assert ran.code == 2
    assert ".csv, .xlsx, .jsonl" in ran.err


@pytest.mark.filterwarnings("ignore:.*texts are read from column:UserWarning")
def test_the_single_text_of_a_uer_file_is_the_text(cli: Cli, trained: Path, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("label\ttext_a\n好\t房间很干净\n差\t很差\n", "utf-8")
    ran = cli("predict", trained, tmp_path / "a.tsv")
    assert (ran.code, len(ran.out.splitlines())) == (0, 2)
    assert [e.text for e in TASKS["classification"].read(tmp_path / "a.tsv")] == [
        "房间很干净",
        "很差",
    ]


def test_labels_have_their_chinese_names_beside_them(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text\n国足客场战平\n\n股市大跌\n", encoding="utf-8")
    for name in ("b.csv", "b.jsonl"):
        ran = cli("predict", "news", tmp_path / "a.csv", "--out", tmp_path / name)
        assert ran.code == 0, ran.err
        rows = [row for _, row in read_objects(tmp_path / name)]
        assert [(row["label"], row["label_zh"]) for row in rows] == [
            ("news_sports", "体育"),
            ("news_finance", "财经"),
        ]


def test_answers_go_to_a_tool_and_come_back_as_data(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("👍李华在杭州\n好\n", encoding="utf-8")
    assert cli("predict", "ner-msra", tmp_path / "a.txt", "--out", tmp_path / "a.jsonl").code == 0
    for tool, name in (("doccano", "d.jsonl"), ("label-studio", "s.json")):
        assert cli("convert-data", tmp_path / "a.jsonl", tmp_path / name, "--to", tool).code == 0
    studio = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    for task in studio:
        task["annotations"] = task.pop("predictions")
    (tmp_path / "s.json").write_text(json.dumps(studio), encoding="utf-8")
    found = []
    for name in ("d.jsonl", "s.json"):
        assert cli("convert-data", tmp_path / name, tmp_path / "back.jsonl").code == 0
        found.append([row for _, row in read_objects(tmp_path / "back.jsonl")])
        first = found[-1][0]
        slices = [first["text"][one["start"] : one["end"]] for one in first["entities"]]
        assert slices == ["李华", "杭州"]
    assert found[0][0]["entities"] == found[1][0]["entities"]

    assert cli("predict", "ner-msra", tmp_path / "a.txt", "--out", tmp_path / "a.csv").code == 0
    for tool in ("zh_albert", "label-studio"):
        refused = cli("convert-data", tmp_path / "a.csv", tmp_path / "c.json", "--to", tool)
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert "a.csv, line 2: " in refused.err
        assert not (tmp_path / "c.json").exists()


def test_columns_and_the_sheet_can_be_named(
    cli: Cli, micro: Path, tmp_path: Path, table: list[list[str]]
) -> None:
    """Two columns of Chinese texts, and what is meant stands on the second sheet."""
    book = openpyxl.Workbook()
    book.active.append(["说明"])
    sheet = book.create_sheet("数据")
    sheet.append(["店家说", "顾客说", "判断"])
    for _, text, label in table[1:]:
        sheet.append(["谢谢您的支持和光临，欢迎下次再来", text, label])
    path, out = tmp_path / "a.xlsx", tmp_path / "out"
    book.save(path)
    layout = ("--sheet", "数据", "--text-column", "顾客说", "--label-column", "判断")
    files = ("--train", path, "--dev", path)
    ran = cli("finetune", *files, "--out", out, "--init", micro, *QUICK, *layout, "--json")
    assert json.loads(ran.out)["accuracy"] == 1.0
    assert json.loads(cli("evaluate", out, path, *layout, "--json").out)["accuracy"] == 1.0
    assert json.loads(cli("baseline", *files, *layout, "--json").out)["accuracy"] == 1.0
    for command in (("evaluate", out, path), ("baseline", *files)):
        ran = cli(*command, *layout[:-1], "结论")
        assert ran.code == 2
        assert "there is no column '结论' for label, but '店家说', '顾客说', '判断'" in ran.err
    ran = cli("evaluate", out, path, *layout[:4])
    assert "say which column it is: --label-column" in ran.err
    lines = tmp_path / "a.txt"
    lines.write_text("很好\n", encoding="utf-8")
    for option, said in (("--sheet", "expected a workbook"), ("--text-column", "in each line")):
        ran = cli("predict", out, lines, option, "数据")
        assert ran.code == 2
        assert said in ran.err
        assert "Traceback" not in ran.err
