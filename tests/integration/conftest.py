"""A small trained classifier and the command line in this process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.cluster import COMMANDS
from tests.helpers.commands import QUICK, Ran
from tests.helpers.task_files import BAD, GOOD, THINGS, reviews


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Run ``zh-albert`` with arguments; return exit code, standard output and error."""

    def run(*arguments: object) -> Ran:
        from zh_albert.cli.app import main

        monkeypatch.setattr(sys, "argv", ["zh-albert", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def trained(micro: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a plain classifier (no n-grams), trained on ``reviews`` by the job."""
    from zh_albert.configio import build, parse_overrides
    from zh_albert.tasks.classification.examples import read_text_examples
    from zh_albert.tasks.classification.finetune import FinetuneConfig, finetune

    folder = tmp_path_factory.mktemp("trained")
    examples = read_text_examples(reviews(folder / "train.jsonl"))
    settings = [*QUICK, "--set=model.pooling=first"]
    config = build(
        FinetuneConfig, parse_overrides([item.removeprefix("--set=") for item in settings])
    )
    finetune(examples, examples, config, init=micro, out=folder / "model")
    return folder / "model"


@pytest.fixture(scope="session")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few made-up sentences as shards."""
    from corpora_tools.build import build_shards
    from corpora_tools.build_parts import BuildConfig

    folder = tmp_path_factory.mktemp("corpus")
    rows = []
    for index in range(120):
        sentences = [
            f"{THINGS[(index + step) % 8]}{(GOOD, BAD)[index % 2][(index + step) % 8]}。"
            for step in range(8)
        ]
        rows.append(json.dumps({"text": "".join(sentences)}, ensure_ascii=False))
    (folder / "corpus.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    build_shards([folder / "corpus.jsonl"], folder / "shards", BuildConfig())
    return folder / "shards"


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put stand-ins for Slurm on the PATH; return a folder where ``scripts`` are gathered."""
    folder = tmp_path / "slurm"
    folder.mkdir()
    for name, content in COMMANDS.items():
        (folder / name).write_text(content, encoding="utf-8")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_SLURM", str(folder))
    return folder
