"""What the README shows works as it stands there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.conftest import Ran, reviews

ROOT = Path(__file__).parents[2]
READMES = ["README.md", "README.zh-CN.md"]


def blocks(name: str, language: str) -> list[str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("name", READMES)
def test_the_python_examples_run(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    examples = blocks(name, "python")
    assert len(examples) == 4
    for example in examples:
        exec(compile(example, name, "exec"), {})
    shown = capsys.readouterr().out
    assert "Classification(label=" in shown
    assert "好评" in shown or "差评" in shown


@pytest.mark.parametrize("name", READMES)
def test_the_commands_exist_with_these_options(
    name: str, cli: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reviews.txt").write_text("房间很干净\n", encoding="utf-8")
    reviews(tmp_path / "train.jsonl")
    reviews(tmp_path / "dev.jsonl")
    (tmp_path / "dev.jsonl").write_text('{"text": "股市大涨", "label": "news_stock"}\n')
    lines = [line for block in blocks(name, "sh") for line in block.splitlines()]
    commands = [shlex.split(line, comments=True) for line in lines if line.startswith("zh-albert")]
    assert len(commands) > 10
    for command in commands:
        if command[1] in ("models", "predict", "evaluate", "inspect"):
            ran = cli(*command[1:])
            assert ran.code == 0, ran.err
            assert ran.out
        else:  # slow, or in need of what another one made: the options must be there
            words = command[1:3] if command[1] == "clue" else command[1:2]
            help_text = cli(*words, "--help").out
            assert all(o.split("=")[0] in help_text for o in command if o.startswith("--"))


def test_both_readmes_show_the_same_code() -> None:
    assert blocks(READMES[0], "python") == blocks(READMES[1], "python")
    commands = [
        [line.partition("#")[0].split() for line in "".join(blocks(name, "sh")).splitlines()]
        for name in READMES
    ]
    assert commands[0] == commands[1]
