"""Ways into the project, each a process: ``python -m tests.helpers.ways_in NAME SECONDS``.

What runs here is what a user runs, in an empty folder and with an empty home. Ways that answer
texts do so for a number of seconds, since a library may report its use only after a while.
"""

from __future__ import annotations

import json
import lzma
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.helpers.task_files import reviews
from tests.helpers.traced import Trace, trace
from zh_albert.runtimes.selection import RuntimeName

ROOT = Path(__file__).parents[2]
TEXTS = ["房间很干净，下次还来。", "服务太差了", "这部电影一般"]


def _run(*command: object) -> str:
    """Run a command to its end; return what it printed."""
    done = subprocess.run(
        [sys.executable, *map(str, command)], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _zh_albert(*arguments: object) -> str:
    return _run("-m", "zh_albert.cli", *arguments)


def _zh_corpora(*arguments: object) -> str:
    return _run("-c", "from corpora_tools.cli.app import main; main()", *arguments)


def _answering(seconds: float, answer: Callable[[], Any]) -> None:
    """Answer twice a second."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer()
        time.sleep(0.5)


def library(seconds: float) -> None:
    """Each bundled model, and each runtime."""
    from zh_albert import load

    pair = [("天气很好", "今天天气不错")]
    asked: list[tuple[Any, tuple[Any, ...]]] = [
        (load(name), (TEXTS,)) for name in ("sentiment", "news", "ner", "ner-msra")
    ]
    asked += [(load("nli"), (pair,)), (load("similarity"), (pair,))]
    asked += [(load("reader"), ("李华去了哪里？", "昨天李华坐火车去了杭州。"))]
    asked += [(load("embedder"), (TEXTS,))]
    asked += [(load("encoder"), ("今天[MASK]气很好",))]
    runtimes: tuple[RuntimeName, ...] = ("torch", "onnxruntime", "openvino")
    asked += [(load("sentiment", runtime=name, precision="fp32"), (TEXTS,)) for name in runtimes]
    _answering(seconds, lambda: [model(*question) for model, question in asked])


def estimator(seconds: float) -> None:
    """A classifier that is trained, kept and asked."""
    from zh_albert import AlbertClassifier

    model = AlbertClassifier(epochs=1).fit(["很好", "不错", "太差", "糟糕"], [1, 1, 0, 0])
    model.save("mine")
    _answering(seconds, lambda: model.predict(TEXTS))


def server(seconds: float) -> None:
    """``zh-albert serve``, its pages among it."""
    from tests.helpers.served import serving

    with serving("sentiment", "ner") as running:
        for path in ("/health", "/metrics", "/docs", "/openapi.json"):
            running.get(path)
        _answering(seconds, lambda: running.post("sentiment", {"texts": TEXTS}).raise_for_status())
        running.ended(signal.SIGTERM)


def page(seconds: float) -> None:
    """``zh-albert demo``; the browser tests trace it, too, while its events run."""
    import httpx

    command = [sys.executable, "-m", "zh_albert.cli", "demo", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        line = next(line for line in running.stderr if "http://" in line)
        url = line[line.index("http://") :].split()[0]
        try:
            _answering(seconds, lambda: httpx.get(url, trust_env=False).raise_for_status())
        finally:
            running.send_signal(signal.SIGINT)


def commands(seconds: float) -> None:
    """What is asked of files, and what is written for other runtimes."""
    Path("texts.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    reviews(Path("dev.jsonl"))
    _zh_albert("models")
    _zh_albert("predict", "sentiment", "texts.txt")
    _zh_albert("evaluate", "sentiment", "dev.jsonl")
    _zh_albert("baseline", "--task", "classification", "--train", "dev.jsonl", "--dev", "dev.jsonl")
    _zh_albert("export", "sentiment", "sentiment-openvino", "--format", "openvino")
    _zh_albert("predict", "sentiment-openvino", "texts.txt")
    _zh_albert("export", "sentiment", "sentiment-onnx", "--format", "onnx")
    example = ROOT / "docs" / "examples" / "onnx" / "classify.py"
    _answering(seconds, lambda: _run(example, "sentiment-onnx", *TEXTS))


def training(_: float) -> None:
    """Corpus tools, pretraining, fine-tuning and curves."""
    rows = [json.dumps({"text": "湖面上有一层薄雾，老船夫慢慢地划着桨。" * 9})] * 50
    Path("corpus.jsonl.xz").write_bytes(lzma.compress("\n".join(rows).encode()))
    _zh_corpora("clean", "corpus.jsonl.xz", "clean", "--workers", 2)
    _zh_corpora("dedup", "corpus.jsonl.xz", "once", "--workers", 2)
    _zh_corpora("build", "--corpus", "corpus.jsonl.xz", "--out", "shards", "--workers", 2)
    settings = {
        "data.train": "['shards']",
        "data.heldout": "'shards'",
        "encoder.num_hidden_layers": 1,
        "train.max_updates": 2,
    }
    chosen = [f"--set={name}={value}" for name, value in settings.items()]
    Path("pretrain.toml").write_text('out = "encoder"\n[encoder]\npreset = "tiny"\n')
    _zh_albert("pretrain", "pretrain.toml", *chosen)
    file = reviews(Path("reviews.jsonl"))
    where = ("--train", file, "--dev", file, "--out", "mine", "--set", "train.epochs=2")
    _zh_albert("finetune", "--task", "classification", *where)
    _zh_albert("curves", "mine", "--out", "curves.png")
    _zh_corpora("predict", "mine", file, "answers", "--workers", 2)


def docs(_: float) -> None:
    """The docs site, as ``make docs`` builds it."""
    os.environ["NO_MKDOCS_2_WARNING"] = "1"
    config = ROOT / "mkdocs.yml"
    out = Path("site").absolute()  # a relative one would be beside the config file
    _run("-m", "mkdocs", "build", "--quiet", "--config-file", config, "--site-dir", out)


def tests(_: float) -> None:
    """Some of the tests, those of the runtimes among them."""
    folder = ROOT / "tests" / "unit" / "runtimes"
    _run("-m", "pytest", folder, "-q", "-p", "no:cacheprovider", "--rootdir", ROOT)


WAYS = (library, estimator, server, page, commands, training, docs, tests)
# Caches of other libraries, said in SECURITY.md: matplotlib's list of fonts (curves), jieba's
# dictionary (the docs' search).
CACHES = {
    "training": ["home/.cache/matplotlib/fontlist-v3.11.0.json"],
    "docs": ["tmp/jieba.cache"],
}


def trace_way(way: Callable[[float], None], folder: Path, *, answering_s: float) -> Trace:
    """Run a way in by itself, with its system calls recorded.

    Args:
        way: One of ``WAYS``.
        folder: An empty folder for it.
        answering_s: How long those that answer texts do so.
    """
    command = [sys.executable, "-m", "tests.helpers.ways_in", way.__name__, str(answering_s)]
    return trace(command, folder, seconds=500)


if __name__ == "__main__":
    name, seconds = sys.argv[1:]
    next(way for way in WAYS if way.__name__ == name)(float(seconds))
