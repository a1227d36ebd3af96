"""Texts answered per second, tokenization included, compared with ``transformers`` pipelines.

Run: python tests/benchmarks/inference.py --json

Both sides open the same folder (random weights) and answer texts of the same lengths; they
alternate, each in a process of its own on one thread; seconds are of CPU time, and rates are
medians of the rounds. With ``--threads 2`` (or more) each side has as many threads and seconds are
wall-clock time, on an otherwise idle machine. Lengths are lognormal: median 25 characters, 95th
percentile about 120, at most 510. For reading, a text is the context and starts with the question;
``transformers`` no longer has such a pipeline, so that of its version 4 is reimplemented here. Our
side runs in three ways, and ``ratios`` are of the fastest: ``load(folder)`` by default, the same
with PyTorch only, and an export with int8 weights, like the bundled models. ``shares_of_limit`` are
of the fastest matrix products of a thread in the way's precision (``machine.py``).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

os.environ |= {"OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import torch
import transformers

from zh_albert import load
from zh_albert.cli.memory import keep_freed_memory, keep_loaded_objects
from zh_albert.inference.export import export
from zh_albert.model.config import PRESETS, AlbertConfig
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.heads import OneClass
from zh_albert.tasks.ner.tagger import TextTagger
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import default_tokenizer

sys.path.insert(0, str(Path(__file__).parent))
from machine import cpu_class, limits
from sample_texts import sample_texts

Answer = Callable[[list[str]], object]
HAS_ONNX = find_spec("onnx") is not None and find_spec("onnxruntime") is not None
WAYS = ("default", "torch", "int8") if HAS_ONNX else ("default", "torch")
WINDOW = WindowConfig(max_length=512, stride=32)
QUESTION = 10  # characters
PIPELINES = {"classification": "text-classification", "ner": "token-classification"}
STARTUP = (
    "import psutil, sys; from zh_albert import load; load(sys.argv[1])('房间很干净,服务也好');"
    "print(psutil.Process().memory_info().rss)"
)


def of_every_length(texts: Sequence[str], count: int) -> list[str]:
    """Return a random sample of texts with the same distribution of lengths."""
    step = len(texts) / count
    chosen = [sorted(texts, key=len)[int((number + 0.5) * step)] for number in range(count)]
    random.Random(0).shuffle(chosen)
    return chosen


def config_of(preset: str) -> AlbertConfig:
    return replace(PRESETS[preset], vocab_size=default_tokenizer().vocab_size)


def write_models(folder: Path) -> None:
    """Write a model of each task and size, and its export."""
    tokenizer, labels = default_tokenizer(), ["negative", "positive"]
    torch.manual_seed(0)  # with some weights all outputs are near 0, and int8 far from them
    for size in ("tiny", "base"):
        classifier = TextClassifier(config_of(size), tokenizer, OneClass(labels), window=WINDOW)
        classifier.save(folder / f"classification-{size}", card="Random weights.\n")
    tagger = TextTagger(config_of("tiny"), tokenizer, labels, window=WINDOW, head="softmax")
    tagger.save(folder / "ner-tiny", card="Random weights.\n")
    reader = TextReader(config_of("tiny"), tokenizer, window=WINDOW)
    reader.save(folder / "reading-tiny", card="Random weights.\n")
    if HAS_ONNX:
        for plain in list(folder.iterdir()):
            export(plain, folder / f"{plain.name}-int8", form="zh_albert", precision="int8")


def ours(folder: Path, way: str) -> Answer:
    """This project, as ``zh-albert predict`` runs it."""
    keep_freed_memory()
    path = f"{folder}-int8" if way == "int8" else str(folder)
    model: Any = load(path, runtime="torch") if way == "torch" else load(path)
    keep_loaded_objects()
    if folder.name.startswith("reading"):
        return lambda texts: list(model.stream((text[:QUESTION], text) for text in texts))
    return lambda texts: model(texts) if len(texts) == 1 else list(model.stream(texts))


def theirs(folder: Path, batch_size: int) -> Answer:
    """The pipeline of ``transformers`` for the task."""
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    if folder.name.startswith("reading"):
        return partial(read_by_transformers, *reading_parts(folder))
    task = PIPELINES[folder.name.partition("-")[0]]
    cut = {"truncation": True, "max_length": 512} if task == "text-classification" else {}
    pipeline: Answer = transformers.pipeline(task, model=str(folder), batch_size=batch_size, **cut)
    return pipeline


def reading_parts(folder: Path) -> tuple[Any, Any]:
    """Open a reader's folder in ``transformers``: tokenizer and model."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForQuestionAnswering.from_pretrained(folder)
    return tokenizer, model.eval()


def read_by_transformers(tokenizer: Any, model: Any, texts: list[str]) -> list[str]:
    """Answer as the question-answering pipeline did, with its defaults.

    Windows of 384 tokens that share 128 are run one by one; each gives the answer of up to 15
    tokens with the highest product of probabilities; the best of these is returned.
    """
    answers = []
    for text in texts:
        encoded = tokenizer(
            text[:QUESTION],
            text,
            truncation="only_second",
            max_length=384,
            stride=128,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        best, answer = -1.0, ""
        for number, offsets in enumerate(encoded["offset_mapping"]):
            names = ("input_ids", "token_type_ids", "attention_mask")
            inputs = {name: torch.tensor([encoded[name][number]]) for name in names}
            with torch.inference_mode():
                outputs = model(**inputs)
            in_context = np.array([part == 1 for part in encoded.sequence_ids(number)])
            start, end = (
                np.where(in_context, logits[0].numpy(), -1e4)
                for logits in (outputs.start_logits, outputs.end_logits)
            )
            start, end = (np.exp(logits - logits.max()) for logits in (start, end))
            pairs = np.outer(start / start.sum(), end / end.sum())
            pairs = np.tril(np.triu(pairs), 14)
            first, last = np.unravel_index(pairs.argmax(), pairs.shape)
            if pairs[first, last] > best:
                best = float(pairs[first, last])
                answer = text[offsets[first][0] : offsets[last][1]]
        answers.append(answer)
    return answers


class Side:
    """Process that answers texts on request."""

    def __init__(self, folder: Path, threads: int) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._connection, other = spawn.Pipe()
        spawn.Process(target=serve, args=(other, folder, threads), daemon=True).start()

    def seconds(self, model: str, how: str | int, texts: list[str], *, alone: bool) -> float:
        """Return seconds a text.

        Args:
            model: Name of the folder.
            how: One of ``WAYS``, or the batch size of the pipeline.
            texts: What to answer.
            alone: One after the other; the median is returned.
        """
        self._connection.send((model, how, texts, alone))
        return float(self._connection.recv())

    def end(self) -> int:
        """Return the peak resident size in bytes."""
        self._connection.send(None)
        return int(self._connection.recv())


def serve(connection: Connection, folder: Path, threads: int) -> None:
    torch.set_num_threads(threads)
    clock = time.process_time if threads == 1 else time.perf_counter

    @cache
    def opened(model: str, how: str | int) -> Answer:
        return theirs(folder / model, how) if isinstance(how, int) else ours(folder / model, how)

    for model, how, texts, alone in iter(connection.recv, None):
        answer = opened(model, how)
        for part in [[text] for text in texts[:5]] if alone else [texts[: len(texts) // 2]]:
            answer(part)  # warms up
        took = []
        for part in [[text] for text in texts] if alone else [texts]:
            began = clock()
            answer(part)
            took.append((clock() - began) / len(part))
        connection.send(statistics.median(took))
    connection.send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def race(
    sides: tuple[Side, Side],
    model: str,
    *,
    rounds: int,
    batch_size: int = 1,
    texts: int = 0,
    their_texts: int = 0,
    ways: Sequence[str] = WAYS,
) -> dict[str, float]:
    """Answer in turn; return texts a second.

    Args:
        sides: Ours and theirs.
        model: Name of the folder.
        rounds: Each with texts of its own.
        batch_size: Of the pipeline.
        texts: How many we get; 0: 60 of 25 characters, one after the other.
        their_texts: How many they get, of the same lengths; they need long for many.
        ways: Of running ours.
    """
    rates: dict[str, list[float]] = defaultdict(list)
    for number in range(rounds):
        chosen = sample_texts(texts or 60, seed=number, length=None if texts else 25)
        few = of_every_length(chosen, their_texts) if texts else chosen
        seconds = sides[1].seconds(model, batch_size, few, alone=not texts)
        rates["transformers"].append(sum(map(len, few)) / len(few) / seconds)
        for way in ways:
            seconds = sides[0].seconds(model, way, chosen, alone=not texts)
            rates[way].append(sum(map(len, chosen)) / len(chosen) / seconds)
    characters = statistics.mean(map(len, chosen))  # rates are of characters: lengths differ a bit
    return {who: statistics.median(found) / characters for who, found in rates.items()}


def multiplications(texts: Sequence[str], config: AlbertConfig) -> float:
    """Return the mean number of multiplications for a text, with the output of [CLS] only."""
    hidden, ffn = config.hidden_size, config.intermediate_size
    total = 0.0
    for length in (len(text) + 2 for text in texts):
        layer = 4 * hidden**2 + 2 * hidden * ffn + 2 * length * hidden
        last = 2 * hidden**2 * (1 + 1 / length) + 2 * hidden * (ffn + length) / length
        per_token = config.embedding_size * hidden + (config.num_hidden_layers - 1) * layer + last
        total += length * per_token
    return total / len(texts)


def startup(model: str = "sentiment") -> dict[str, float]:
    """Return the time from starting Python to the first answer of a classifier."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    command = [sys.executable, "-c", STARTUP, model]
    ran = subprocess.run(command, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "startup_s": round(time.monotonic() - began, 2),
        "startup_cpu_s": round(cpu, 2),
        "startup_rss_bytes": int(ran.stdout),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="one round, fewer texts")
    parser.add_argument("--threads", type=int, default=1, help="of each side")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rounds, many = (1, 1) if options.quick else (5, 4)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_models(folder)
        sides = Side(folder, options.threads), Side(folder, options.threads)
        tiny = {"texts": 800 * many, "their_texts": 64 * many, "rounds": rounds}
        rates = {
            "classification_tiny_vs_pipeline": race(sides, "classification-tiny", **tiny),
            "ner_tiny_vs_pipeline": race(sides, "ner-tiny", **tiny),
            "reading_tiny_vs_pipeline": race(sides, "reading-tiny", **tiny),
            "single_text_vs_pipeline": race(sides, "classification-tiny", rounds=rounds),
            "classification_base_vs_pipeline": race(
                sides,
                "classification-base",
                rounds=rounds,
                texts=100 * many,
                their_texts=12 * many,
                ways=[way for way in WAYS if way != "torch"],
            ),
        }
        batched = race(
            sides, "classification-tiny", **{**tiny, "texts": 64 * many}, batch_size=32, ways=()
        )
        ours_tiny = {k: v for k, v in rates["classification_tiny_vs_pipeline"].items() if k in WAYS}
        rates["classification_tiny_vs_pipeline_batch32"] = {**ours_tiny, **batched}
        memory = [side.end() for side in sides]
    ratios = {
        name: {way: found[way] / found["transformers"] for way in WAYS if way in found}
        for name, found in rates.items()
    }
    best = max(ours_tiny.values())
    lengths = sample_texts(1000)
    work = multiplications(lengths, config_of("tiny")) / 1e9 / options.threads
    machine = limits()
    result: dict[str, Any] = {
        "ratios": {name: round(max(found.values()), 2) for name, found in ratios.items()},
        "ratios_of_each_way": {
            name: {way: round(ratio, 2) for way, ratio in found.items()}
            for name, found in ratios.items()
        },
        "texts_per_second": round(best, 1),
        "tokens_per_second": round(best * statistics.mean(len(text) + 2 for text in lengths)),
        "single_text_ms": round(1e3 / max(_ours(rates["single_text_vs_pipeline"])), 2),
        "share_of_matmul_peak": round(best * work / max(machine["fp32"], machine["bf16"]), 3),
        "cpu": cpu_class(),
        "limits_gmac_per_second": machine,
        "shares_of_limit": {
            way: round(rate * work / machine["int8" if way == "int8" else "fp32"], 2)
            for way, rate in ours_tiny.items()
        },
        "rates": {
            name: {k: round(v, 1) for k, v in found.items()} for name, found in rates.items()
        },
        "rss_bytes": dict(zip(("ours", "transformers"), memory, strict=True)),
        **startup(),
    }
    print(json.dumps(result) if options.json else "\n".join(f"{k}: {v}" for k, v in result.items()))


def _ours(rates: dict[str, float]) -> list[float]:
    return [rate for who, rate in rates.items() if who in WAYS]


if __name__ == "__main__":
    main()
