"""What the command line does with arguments before any command sees them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from zh_albert.cli.app import main

ROWS = '{"text": "很好", "label": "好"}\n'


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["zh-albert", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_the_home_folder_is_meant_where_a_shell_leaves_its_sign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "家 目录"
    home.mkdir()
    monkeypatch.chdir(tmp_path)
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(home))
    (home / "a.json").write_text('{"sentence": "好", "label": "104"}\n', encoding="utf-8")
    assert run(monkeypatch, "clue", "convert", "tnews", "~/a.json", "--out=~/b.jsonl") == 0
    assert run(monkeypatch, "convert-data", "~/b.jsonl", "~nobody_of_that_name.jsonl") == 0
    assert {path.name for path in home.iterdir()} == {"a.json", "b.jsonl"}
    assert {path.name for path in tmp_path.iterdir()} == {home.name, "~nobody_of_that_name.jsonl"}


@pytest.mark.parametrize(
    "command",
    [
        ["convert-data", "a.jsonl", "./a.jsonl", "--to", "doccano"],
        ["predict", "sentiment-nano", "a.jsonl", "--out", "./a.jsonl"],
        ["clue", "convert", "eprstmt", "a.jsonl", "--out", "./a.jsonl"],
    ],
)
def test_the_file_that_is_read_is_not_replaced(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.jsonl"
    path.write_text(ROWS, encoding="utf-8")
    assert run(monkeypatch, *command) == 2
    assert capsys.readouterr().err.startswith("error: a.jsonl: expected another file than the one")
    assert path.read_text("utf-8") == ROWS
