"""``compress report`` and ``compress plan`` as commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.commands import Cli, refused
from tests.helpers.compression_reports import write_report
from zh_albert import load


def test_a_report_by_the_command(cli: Cli, trained: Path, tmp_path: Path) -> None:
    file = write_report(tmp_path, trained)
    report = ("compress", "report", file, "--data", tmp_path, "--out", tmp_path / "out")
    ran = cli(*report, "--seeds", 1, "--task", "again", "--arm", "4 bits", "--set", "texts=8")
    assert ran.code == 0, ran.err
    assert "| 4 bits |" in ran.out
    page = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert ran.out == f"{page}written to {tmp_path / 'out'}\n"

    again = cli(*report, "--seeds", 1, "--task", "again", "--set", "texts=8", "--json")
    (task,) = json.loads(again.out)["tasks"]
    assert (task["name"], task["texts"]) == ("again", 8)


def test_runs_are_known_again_with_the_same_data_elsewhere(
    cli: Cli, trained: Path, tmp_path: Path
) -> None:
    file, moved = write_report(tmp_path, trained), tmp_path / "moved"
    report = ("compress", "report", file, "--out", tmp_path / "out", "--seeds", 1)
    report += ("--task", "again", "--arm", "4 bits", "--set", "texts=8")
    first = cli(*report, "--data", tmp_path)
    runs = sorted((tmp_path / "out/runs").iterdir())
    moved.mkdir()
    for name in ("train.jsonl", "dev.jsonl"):
        (tmp_path / name).rename(moved / name)
    again = cli(*report, "--data", moved)
    assert again.out == first.out
    assert sorted((tmp_path / "out/runs").iterdir()) == runs


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--arm", "kdd"], "unknown arm 'kdd'; known: "),
        (["--task", "revews"], "unknown task 'revews'; did you mean 'reviews'?"),
        (["--seeds", "0"], "--seeds must be at least 1, got 0"),
        (["--set", "text=1"], "unknown key 'tasks[0].text'; did you mean 'tasks[0].texts'?"),
        (["--data", "elsewhere"], "elsewhere/train.jsonl: no such file, of task reviews"),
    ],
)
def test_what_a_report_cannot_do_is_said_in_a_line(
    options: list[str], said: str, cli: Cli, trained: Path, tmp_path: Path
) -> None:
    file = write_report(tmp_path, trained)
    refused(
        cli("compress", "report", file, "--data", tmp_path, "--out", tmp_path / "out", *options),
        said,
    )


def test_a_plan_by_the_command(cli: Cli, trained: Path, tmp_path: Path) -> None:
    write_report(tmp_path, trained)
    files = ("--train", tmp_path / "train.jsonl", "--dev", tmp_path / "dev.jsonl")
    plan = ("compress", "plan", trained, *files, "--out", tmp_path / "out", "--most", 1)
    ran = cli(*plan, "--max-mb", 9)
    assert ran.code == 0, ran.err
    assert "candidates" in ran.err
    assert "  best" in ran.out
    assert load(tmp_path / "out")(["房间很好。"])[0].label == "positive"

    refused(cli(*plan, "--max-mb", 9), "already holds a", "add --resume")
    (tmp_path / "moved").mkdir()
    (tmp_path / "train.jsonl").rename(tmp_path / "moved/train.jsonl")
    plan = (*plan[:4], tmp_path / "moved/train.jsonl", *plan[5:])
    again = cli(*plan, "--max-mb", 9, "--resume", "--json")
    assert json.loads(again.out)["best"] in ran.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--max-mb", "0"], "--max-mb must be above 0, got 0"),
        (["--max-mb", "0.01"], "nothing holds 0.01 MB: of "),
        ([], "expected a budget: --max-mb, --max-ms or both, found neither"),
        (["--max-mb", "9", "--most", "0"], "at least one candidate to train"),
        (["--max-mb", "9", "--dev", "none.jsonl"], "none.jsonl: no such file"),
    ],
)
def test_what_a_plan_cannot_do_is_said_in_a_line(
    options: list[str], said: str, cli: Cli, trained: Path, tmp_path: Path
) -> None:
    write_report(tmp_path, trained)
    files = ("--train", tmp_path / "train.jsonl", "--dev", tmp_path / "dev.jsonl")
    refused(cli("compress", "plan", trained, *files, "--out", tmp_path / "out", *options), said)
    refused(cli("compress", "plan", "newz", *files, "--out", tmp_path / "x", "--max-mb", 9), "news")
