"""A small trained classifier and the command line in this process."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.micro import save_micro_encoder

GOOD = ["很好", "喜欢", "满意", "不错", "推荐", "干净", "周到", "好吃"]
BAD = ["太差", "失望", "糟糕", "难吃", "退货", "脏", "吵闹", "冷淡"]
THINGS = ["房间", "服务", "味道", "物流", "包装", "早餐", "价格", "屏幕"]


class Ran(NamedTuple):
    code: int
    out: str
    err: str


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


def reviews(path: Path, *, count: int = 64) -> Path:
    """Write a task file that is easily learned; longer files hold more combinations."""
    rows = []
    for index in range(count):
        thing = THINGS[index % 8]
        words, label = ((GOOD, "positive"), (BAD, "negative"))[(index // 8) % 2]
        word = words[(index // 16 + index) % 8]
        rows.append(json.dumps({"text": f"{thing}{word}。", "label": label}, ensure_ascii=False))
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


# Enough for the micro encoder to learn "reviews".
QUICK = (
    "--set=train.epochs=8",
    "--set=train.peak_lr=5e-3",
    "--set=train.batch_tokens=128",
    "--set=window.max_length=32",
    "--set=window.stride=8",
)


@pytest.fixture(scope="session")
def micro(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model folder of an untrained encoder, small enough to train in a second."""
    return save_micro_encoder(tmp_path_factory.mktemp("micro") / "micro")


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
