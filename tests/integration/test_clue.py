"""``zh-albert clue``: from official files to a checked submission, and the suite."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.commands import Cli, Ran, refused
from tests.helpers.task_files import pair_rows, reviews, travels, trips
from zh_albert.clue.tasks import CLUE_TASKS
from zh_albert.tables.objects import read_objects

# Enough for something to be learned.
BRIEF = (
    *("--set=train.epochs=6", "--set=train.peak_lr=1e-2", "--set=train.batch_tokens=128"),
    *("--set=window.max_length=32", "--set=window.stride=8"),
)
TYPES = {"PER": "name", "LOC": "address"}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Official files of a FewCLUE task, of CLUENER and of CMRC 2018."""
    folder = tmp_path_factory.mktemp("release")
    for task in ("eprstmt", "cluener", "cmrc2018"):
        (folder / task).mkdir()
    rows = [row for _, row in read_objects(reviews(folder / "reviews.jsonl"))]
    official = [
        {"id": number, "sentence": row["text"], "label": row["label"].capitalize()}
        for number, row in enumerate(rows)
    ]
    for name in ("train_0.json", "dev_0.json", "test_public.json"):
        write(folder / "eprstmt" / name, official)
    test = [{"id": row["id"], "sentence": row["sentence"]} for row in official]
    write(folder / "eprstmt" / "test.json", [*test, {"id": 900, "sentence": "  "}])
    tagged = [row for _, row in read_objects(travels(folder / "travels.jsonl"))]
    for name in ("train.json", "dev.json"):
        write(folder / "cluener" / name, [{"text": r["text"], "label": named(r)} for r in tagged])
    write(
        folder / "cluener" / "test.json",
        [{"id": number, "text": row["text"]} for number, row in enumerate(tagged)],
    )
    asked = [row for _, row in read_objects(trips(folder / "trips.jsonl"))]
    for name in ("train.json", "dev.json"):
        write_articles(folder / "cmrc2018" / name, asked)
    unanswered = [{**row, "answers": [{"text": "", "start": -1}]} for row in asked]
    unanswered.append({**unanswered[0], "question": ""})  # as in the official trial file
    write_articles(folder / "cmrc2018" / "test.json", unanswered)
    return folder


def write_articles(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write questions in the form of CMRC 2018, each with an article of its own."""
    articles = []
    for number, row in enumerate(rows):
        answers = [{"text": a["text"], "answer_start": a["start"]} for a in row["answers"]]
        question = {"id": f"Q{number}", "question": row["question"], "answers": answers}
        articles.append({"paragraphs": [{"context": row["context"], "qas": [question]}]})
    path.write_text(json.dumps({"data": articles}, ensure_ascii=False), encoding="utf-8")


def named(row: dict[str, Any]) -> dict[str, dict[str, list[list[int]]]]:
    label: dict[str, dict[str, list[list[int]]]] = {}
    for entity in row["entities"]:
        surface = row["text"][entity["start"] : entity["end"]]
        place = [entity["start"], entity["end"] - 1]
        label.setdefault(TYPES[entity["type"]], {}).setdefault(surface, []).append(place)
    return label


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for runs that several tests share."""
    return tmp_path_factory.mktemp("suite")


def run(cli: Cli, release: Path, suite: Path, micro: Path, *more: str) -> Ran:
    tasks = ("--tasks", "eprstmt,cluener", "--seeds", 2, "--init", micro)
    return cli("clue", "run", *tasks, "--data", release, "--out", suite, *BRIEF, *more)


def test_the_suite_prints_mean_and_spread_beside_published_rows_and_goes_on(
    cli: Cli, release: Path, suite: Path, micro: Path
) -> None:
    ran = run(cli, release, suite, micro)

    assert ran.code == 0, ran.err
    head, first, second = ran.out.splitlines()
    assert head.split() == [
        *("task", "score", "this", "run"),
        *("ALBERT-tiny", "ALBERT-base", "BERT-base", "RoBERTa,", "few"),
    ]
    assert first.startswith("eprstmt  accuracy  ")
    assert first.endswith("65.40")
    assert second.startswith("cluener  f1 ")
    assert "74.20" in second
    assert "80.74" in second
    weights = suite / "cluener" / "seed-2" / "model.safetensors"
    assert weights.read_bytes() != (suite / "cluener/seed-1/model.safetensors").read_bytes()
    written = weights.stat().st_mtime_ns
    again = json.loads(run(cli, release, suite, micro, "--json").out)["results"]
    assert weights.stat().st_mtime_ns == written  # finished runs are left alone
    assert [result["task"] for result in again] == ["eprstmt", "cluener"]
    assert len(again[0]["scores"]) == 2
    assert again[0]["mean"] > 60
    other = run(cli, release, suite, micro, "--set=train.epochs=7")
    assert other.code == 2
    assert other.err.splitlines()[-1].startswith("error: ")


def test_ctrl_c_says_how_to_go_on(
    cli: Cli, release: Path, micro: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("zh_albert.clue.suite.finetune", press)
    ran = run(cli, release, tmp_path, micro)
    assert (ran.code, ran.err.splitlines()[-1]) == (130, "stopped; the same command goes on")


def test_runs_are_not_put_among_the_official_files(cli: Cli, release: Path, micro: Path) -> None:
    before = sorted(release.rglob("*"))
    refused(
        run(cli, release, release, micro), "eprstmt: holds the official files", "another folder"
    )
    assert sorted(release.rglob("*")) == before


def test_a_submission_is_written_and_passes_the_check(
    cli: Cli, release: Path, suite: Path, micro: Path, tmp_path: Path
) -> None:
    assert run(cli, release, suite, micro).code == 0
    for task, count in (("eprstmt", 65), ("cluener", 16)):
        data, model = release / task, suite / task / "seed-1"
        ran = cli("clue", "predict", task, model, data, "--out", tmp_path)
        assert ran.code == 0, ran.err
        file = tmp_path / f"{task}_predict.json"
        assert len(file.read_text("utf-8").splitlines()) == count
        checked = cli("clue", "check", file, "--task", task, "--data", data)
        assert (checked.code, checked.out) == (0, f"{file}: no fault\n")
    assert "filled with a guess: 1" in cli(
        "clue", "predict", "eprstmt", suite / "eprstmt" / "seed-1", release / "eprstmt",
        "--out", tmp_path,
    ).err  # fmt: skip
    labels = [row["label"] for _, row in read_objects(tmp_path / "eprstmt_predict.json")]
    assert set(labels) == {"Positive", "Negative"}
    labels = [row["label"] for _, row in read_objects(tmp_path / "cluener_predict.json")]
    assert any(labels)


def test_questions_are_answered_in_the_official_form(
    cli: Cli, release: Path, micro: Path, tmp_path: Path
) -> None:
    brief = (*BRIEF, "--set=window.max_length=64", "--set=train.epochs=2", "--seeds", "1")
    arguments = ("--tasks", "cmrc2018", "--data", release, "--out", tmp_path, "--init", micro)
    ran = cli("clue", "run", *arguments, *brief, "--json")
    assert ran.code == 0, ran.err
    (result,) = json.loads(ran.out)["results"]
    assert (result["metric"], result["published"]["ALBERT-tiny"]) == ("exact_match", "48.31")

    model, data = tmp_path / "cmrc2018" / "seed-1", release / "cmrc2018"
    ran = cli("clue", "predict", "cmrc2018", model, data, "--out", tmp_path / "submission")

    assert ran.code == 0, ran.err
    assert "filled with a guess: 1" in ran.err
    file = tmp_path / "submission" / "cmrc2018_predict.json"
    rows = read_objects(data / "test.json")
    contexts = [a["paragraphs"][0]["context"] for _, row in rows for a in row["data"]]
    answers = json.loads(file.read_text("utf-8"))
    assert list(answers) == [f"Q{number}" for number in range(len(contexts))]
    assert all(a in c for a, c in zip(answers.values(), contexts, strict=True))
    assert cli("clue", "check", file, "--task", "cmrc2018", "--data", data).code == 0


def official_pairs() -> list[dict[str, Any]]:
    numbers = {"different": "0", "similar": "1"}
    return [
        {"sentence1": row["text_a"], "sentence2": row["text_b"], "label": numbers[row["label"]]}
        for row in pair_rows()[:16]
    ]


def official_coreferences() -> list[dict[str, Any]]:
    rows = []
    for number, person in enumerate(["小明", "小红", "老王", "老李"] * 4):
        text = f"{person}说猫饿了，它要吃饭。"
        start = text.index("猫") if number % 2 else 0
        thing = {"span1_text": text[start : start + 1], "span1_index": start}
        target = {**thing, "span2_text": "它", "span2_index": text.index("它")}
        rows.append({"target": target, "text": text, "label": ("false", "true")[number % 2]})
    return rows


def official_idioms() -> list[dict[str, Any]]:
    idioms = ["一心一意", "三心二意", "乱七八糟"]
    return [
        {"id": number, "candidates": idioms, "content": f"他做事{word}#idiom#。", "answer": choice}
        for number, (word, choice) in enumerate([("认真", 0), ("不专心", 1), ("没条理", 2)] * 4)
    ]


@pytest.mark.parametrize(
    ("task", "rows", "name"),
    [
        ("afqmc", official_pairs(), "afqmc_predict.json"),
        ("cluewsc2020", official_coreferences(), "cluewsc11_predict.json"),
        ("chidf", official_idioms(), "chidf_predict.json"),
    ],
)
def test_pairs_pronouns_and_choices_go_the_whole_way(
    cli: Cli, micro: Path, tmp_path: Path, task: str, rows: list[dict[str, Any]], name: str
) -> None:
    data, out = tmp_path / "data", tmp_path / "out"
    (data / task).mkdir(parents=True)
    described = CLUE_TASKS[task]
    for file in {*described.train, *described.dev, *described.scored}:
        write(data / task / file, rows)
    test = [{n: v for n, v in row.items() if n not in ("label", "answer")} for row in rows]
    write(data / task / "test.json", [{**row, "id": 10 + n} for n, row in enumerate(test)])
    arguments = ("--tasks", task, "--data", data, "--out", out, "--init", micro, "--seeds", 1)
    ran = cli("clue", "run", *arguments, *BRIEF, "--set=train.epochs=2")
    assert ran.code == 0, ran.err

    ran = cli("clue", "predict", task, out / task / "seed-1", data / task, "--out", tmp_path)

    assert ran.code == 0, ran.err
    ran = cli("clue", "check", tmp_path / name, "--task", task, "--data", data / task)
    assert (ran.code, ran.out) == (0, f"{tmp_path / name}: no fault\n")
    other = cli("clue", "predict", "cslf", out / task / "seed-1", data / task, "--out", tmp_path)
    assert (other.code, other.err.count("\n")) == (2, 1)


def test_a_passage_uses_no_idiom_twice(cli: Cli, micro: Path, tmp_path: Path) -> None:
    """ChID: a row for each blank, answered together."""
    data = tmp_path / "chid"
    data.mkdir()
    idioms = ["一心一意", "三心二意", "乱七八糟", "井井有条"]
    contents = ["他#idiom000001#，她#idiom000002#。", "房间#idiom000003#。"]
    passage = {"content": contents, "candidates": idioms}
    for split in ("train", "dev"):
        write(data / f"{split}.json", [passage])
        key = {"#idiom000001#": 0, "#idiom000002#": 1, "#idiom000003#": 2}
        (data / f"{split}_answer.json").write_text(json.dumps(key), encoding="utf-8")
    write(data / "test1.1.json", [passage])
    arguments = ("--tasks", "chid", "--data", tmp_path, "--out", tmp_path / "out", "--seeds", 1)
    ran = cli("clue", "run", *arguments, "--init", micro, *BRIEF, "--set=train.epochs=1")
    assert ran.code == 0, ran.err

    ran = cli("clue", "predict", "chid", tmp_path / "out/chid/seed-1", data, "--out", tmp_path)

    assert ran.code == 0, ran.err
    answers = json.loads((tmp_path / "chid11_predict.json").read_text("utf-8"))
    assert list(answers) == ["#idiom000001#", "#idiom000002#", "#idiom000003#"]
    assert len(set(answers.values())) == 3


def test_a_question_with_one_choice_is_answered_by_it(
    cli: Cli, micro: Path, tmp_path: Path
) -> None:
    """C3: a row without a choice must not cost the rows that have one."""
    data = tmp_path / "c3"
    data.mkdir()
    asked = [{"question": "谁?", "choice": ["甲", "乙"], "answer": "乙"}]
    documents = [[["男：甲好", "女：乙也好"], asked, f"1-{number}"] for number in range(8)]
    for file in (*CLUE_TASKS["c3"].train, *CLUE_TASKS["c3"].dev):
        (data / file).write_text(json.dumps(documents, ensure_ascii=False), encoding="utf-8")
    choices = [["甲", "乙"], ["甲"], ["甲", "乙", "丙"]]
    test = [
        [["男：好"], [{"id": number, "question": "谁?", "choice": given}], f"2-{number}"]
        for number, given in enumerate(choices)
    ]
    (data / "test1.1.json").write_text(json.dumps(test, ensure_ascii=False), encoding="utf-8")
    arguments = ("--tasks", "c3", "--data", tmp_path, "--out", tmp_path / "out", "--seeds", 1)
    ran = cli("clue", "run", *arguments, "--init", micro, *BRIEF, "--set=train.epochs=1")
    assert ran.code == 0, ran.err

    ran = cli("clue", "predict", "c3", tmp_path / "out/c3/seed-1", data, "--out", tmp_path)

    assert ran.code == 0, ran.err
    rows = [row for _, row in read_objects(tmp_path / "c311_predict.json")]
    assert [row["id"] for row in rows] == [0, 1, 2]
    assert rows[1]["label"] == "0"
    file = tmp_path / "c311_predict.json"
    assert cli("clue", "check", file, "--task", "c3", "--data", data).out == f"{file}: no fault\n"


def test_official_rows_without_text_are_left_out_and_told(
    cli: Cli, release: Path, micro: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    shutil.copytree(release, data)
    empty = json.dumps({"id": 99, "sentence": " ", "label": "Positive"})
    for split in ("train_0", "test_public"):
        file = data / "eprstmt" / f"{split}.json"
        file.write_text(file.read_text("utf-8") + empty + "\n", encoding="utf-8")
    arguments = ("--tasks", "eprstmt", "--data", data, "--out", tmp_path / "runs", "--init", micro)
    ran = cli("clue", "run", *arguments, "--seeds", 1, *BRIEF)
    assert ran.code == 0, ran.err
    for split in ("train_0", "test_public"):
        told = f"{split}.json: 1 of 65 rows left out: nothing to read in them"
        assert ran.err.count(told) == 1


def test_a_score_is_of_the_file_that_is_there(
    cli: Cli, release: Path, micro: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    shutil.copytree(release, data)
    arguments = ("--tasks", "eprstmt", "--data", data, "--out", tmp_path / "runs", "--init", micro)
    command = ("clue", "run", *arguments, "--seeds", 1, *BRIEF, "--json")
    [before] = json.loads(cli(*command).out)["results"]
    file = data / "eprstmt" / "test_public.json"
    other = {"Positive": "Negative", "Negative": "Positive"}
    turned = [{**row, "label": other[row["label"]]} for _, row in read_objects(file)]
    write(file, turned)
    [after] = json.loads(cli(*command).out)["results"]
    assert before["mean"] > 60
    assert after["mean"] == pytest.approx(100 - before["mean"])
    [score] = (tmp_path / "runs").rglob("score.json")
    of_no_metric = json.dumps({"sha256": json.loads(score.read_text("utf-8"))["sha256"]})
    for damaged in ("{", "[]", of_no_metric):
        score.write_text(damaged, encoding="utf-8")
        refused(cli(*command), "score.json: damaged; delete it, and the run is scored again")


def test_labels_that_are_never_learned_show_before_anything_is(
    cli: Cli, release: Path, micro: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    shutil.copytree(release, data)
    file = data / "eprstmt" / "train_0.json"
    write(file, [row for _, row in read_objects(file) if row["label"] == "Positive"][:-1])
    arguments = ("--data", data, "--out", tmp_path / "runs", "--init", micro)
    ran = cli("clue", "run", "--tasks", "cluener,eprstmt", *arguments, *BRIEF)
    assert ran.code == 2
    assert "error: " in ran.err.splitlines()[-1]
    assert not (tmp_path / "runs" / "cluener" / "seed-1").exists()


def test_what_is_wrong_with_the_second_task_shows_before_the_first_is_learned(
    cli: Cli, release: Path, micro: Path, tmp_path: Path
) -> None:
    arguments = ("--data", release, "--out", tmp_path, "--init", micro)
    ran = cli("clue", "run", "--tasks", "eprstmt,bustm", *arguments, *BRIEF)
    assert (ran.code, "clue fetch bustm" in ran.err) == (2, True)
    ran = cli("clue", "run", "--tasks", "eprstmt,cmrc2018", *arguments, "--set=model.ngrams=true")
    assert (ran.code, "the recipe of cmrc2018" in ran.err) == (2, True)
    assert not (tmp_path / "eprstmt" / "seed-1").exists()


def test_a_task_that_is_named_twice_is_one_row(
    cli: Cli, release: Path, micro: Path, tmp_path: Path
) -> None:
    arguments = ("--data", release, "--out", tmp_path, "--init", micro, "--seeds", "1")
    ran = cli("clue", "run", "--tasks", "eprstmt, eprstmt", *arguments, "--set=train.epochs=1")
    assert ran.code == 0, ran.err
    assert [line.split()[0] for line in ran.out.splitlines()] == ["task", "eprstmt"]


def test_the_table_of_what_is_done_survives_a_later_fault(
    cli: Cli, release: Path, suite: Path, micro: Path, tmp_path: Path
) -> None:
    assert run(cli, release, suite, micro).code == 0
    data = tmp_path / "data"
    shutil.copytree(release, data)
    (data / "cluener" / "train.json").write_text('{"text": "一", "label": {}}\n', encoding="utf-8")
    ran = run(cli, data, suite, micro)
    assert ran.code == 2
    assert [line.split()[0] for line in ran.out.splitlines()] == ["task", "eprstmt"]


def test_faults_are_told_a_line_each_with_exit_code_2(
    cli: Cli, release: Path, tmp_path: Path
) -> None:
    file = tmp_path / "eprstmt_predict.json"
    rows = [{"id": number, "label": "Positive"} for number in [*range(64), 900]]
    rows[2]["label"] = "positive"
    write(file, rows)
    arguments = (file, "--task", "eprstmt", "--data", release / "eprstmt" / "test.json")

    ran = cli("clue", "check", *arguments)

    assert ran.code == 2
    problem = "unknown label 'positive'; its official label is 'Positive'"
    assert ran.out == f"{file}, line 3: {problem}\n"
    told = json.loads(cli("clue", "check", *arguments, "--json").out)
    assert told["faults"] == [{"line": 3, "problem": problem}]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("check", "x.json", "--task", "tnew", "--data", "y"), "no CLUE task 'tnew'; did you mean"),
        (("run", "--tasks", "eprstmt", "--data", "none", "--out", "out"), "clue fetch eprstmt"),
        (("run", "--tasks", "tnews", "--data", "d", "--out", "o", "--set=train.seed=7"), "--seeds"),
        (("convert", "eprstmt", "none.json", "--out", "o.jsonl"), "none.json: no such file"),
        (("convert", "eprstmt", "none.json", "--out", "o.jsonl.xz"), "ends in .jsonl"),
    ],
)
def test_what_a_user_gets_wrong_is_one_line(
    cli: Cli,
    arguments: tuple[str, ...],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = cli("clue", *arguments)
    assert ran.code == 2
    assert ran.err.splitlines()[-1].startswith("error: ")
    assert problem in ran.err


def test_a_submission_is_refused_before_anything_is_answered(
    cli: Cli, release: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    for out, problem in (("a.jsonl", "ends in .json"), ("file/a.json", "found the file")):
        ran = cli("clue", "predict", "tnews", "news", release / "tnews", "--out", tmp_path / out)
        assert (ran.code, problem in ran.err) == (2, True), ran.err


def test_what_a_folder_lacks_is_named(cli: Cli, micro: Path, tmp_path: Path) -> None:
    for name in ("train.jsonl", "dev.jsonl"):
        path = tmp_path / "eprstmt" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text('{"text": "好", "label": "Positive"}\n', encoding="utf-8")
    for name in ("train.json", "dev.json"):
        path = tmp_path / "chid" / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    for task, missing in (("eprstmt", "test.jsonl"), ("chid", "train_answer.json")):
        files = ("--tasks", task, "--data", tmp_path, "--out", tmp_path / "out", "--init", micro)
        ran = cli("clue", "run", *files)
        assert (ran.code, missing in ran.err) == (2, True), ran.err


def test_a_name_with_a_dot_is_a_folder(
    cli: Cli, release: Path, suite: Path, micro: Path, tmp_path: Path
) -> None:
    assert run(cli, release, suite, micro).code == 0
    model, data = suite / "eprstmt" / "seed-1", release / "eprstmt"
    ran = cli("clue", "predict", "eprstmt", model, data, "--out", tmp_path / "sub-1.1")
    assert ran.code == 0, ran.err
    assert (tmp_path / "sub-1.1" / "eprstmt_predict.json").is_file()


def test_a_model_for_another_task_is_refused(
    cli: Cli, release: Path, trained: Path, tmp_path: Path
) -> None:
    other = cli("clue", "predict", "tnews", trained, release / "eprstmt", "--out", tmp_path)
    assert (other.code, "which is no label of tnews" in other.err) == (2, True)
    kind = cli("clue", "predict", "cluener", trained, release / "cluener", "--out", tmp_path)
    assert (
        kind.code,
        "expected a model for the task ner, found one for classification" in kind.err,
    ) == (2, True)
    assert not list(tmp_path.iterdir())


def test_official_files_are_converted(cli: Cli, release: Path, tmp_path: Path) -> None:
    out = tmp_path / "dev.jsonl"
    files = (release / "cluener/train.json", release / "cluener/dev.json")
    assert cli("clue", "convert", "cluener", *files, "--out", out).code == 0
    rows = [row for _, row in read_objects(out)]
    assert len(rows) == 32
    assert rows[0]["entities"][0] == {"start": 0, "end": 3, "type": "name"}


def test_every_task_is_listed(cli: Cli) -> None:
    rows = json.loads(cli("clue", "tasks", "--json").out)["tasks"]
    assert len(rows) == 21
    by_name = {row["name"]: row["submissions"] for row in rows}
    assert by_name["cluewsc2020"] == {
        "1.1": "cluewsc11_predict.json",
        "1.0": "cluewsc10_predict.json",
    }
    assert len(cli("clue", "tasks").out.splitlines()) == 21


@pytest.mark.parametrize("command", ["tasks", "fetch", "convert", "predict", "check", "run"])
def test_every_command_explains_itself_with_an_example(cli: Cli, command: str) -> None:
    ran = cli("clue", command, "--help")
    assert ran.code == 0
    assert f"Example: zh-albert clue {command}" in ran.out
