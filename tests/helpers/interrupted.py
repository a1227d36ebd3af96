"""Writers of folders, interrupted at each step: ``python -m tests.helpers.interrupted save``.

``export:4`` interrupts at four steps of each kind only. Prints a JSON object: how many faults there
were, what came of them, and the failures. It is run as a process of its own, because it forks.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch

from corpora_tools.build import build_shards
from corpora_tools.build_parts import BuildConfig
from tests.helpers.faults import CALLS, Fault, Step, count_steps, run, run_with_fault
from tests.helpers.micro import CONFIG
from tests.helpers.task_files import reviews
from zh_albert.checkpoints.convert import convert
from zh_albert.checkpoints.verified import verified
from zh_albert.configio import build
from zh_albert.files.half_written import EVERY
from zh_albert.hardware import is_bf16_faster
from zh_albert.inference.export import export
from zh_albert.pretraining.shards import open_shards
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.examples import read_text_examples
from zh_albert.tasks.classification.finetune import FinetuneConfig, finetune
from zh_albert.tasks.classification.heads import OneClass
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.tokenization.words import segmenter
from zh_albert.training.resume import read_run_state

WINDOW = WindowConfig(max_length=32, stride=8)


class Writer(NamedTuple):
    """What writes a folder."""

    prepare: Callable[[Path], object]
    """Makes the old state in an empty folder."""
    write: Callable[[Path], object]
    """Writes ``out`` in that folder; called again, it comes to the same end."""
    state: Callable[[Path], object]
    """Opens ``out`` as a reader does; two states are equal if they are so bit for bit."""


def classifier(version: str) -> TextClassifier:
    """Make a classifier whose labels, weights and decisions are all of one version."""
    torch.manual_seed(ord(version))
    head = OneClass([f"{version}1", f"{version}2"])
    return TextClassifier(CONFIG, default_tokenizer(), head, window=WINDOW)


def digests(folder: Path) -> dict[str, str]:
    """Return the digests of a folder's files, as far as they are not hidden."""
    files = (path for path in folder.iterdir() if path.is_file() and path.name[0] != ".")
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(files)}


def model_state(out: Path) -> object:
    """Open a model folder; None if there is none."""
    if not out.exists():
        return None
    with verified(out):
        TextClassifier.load(out)
        return digests(out)


def shards_state(out: Path) -> object:
    return open_shards(out).digest if out.exists() else None


def run_state(out: Path) -> object:
    """Return the digests of the model of a finished run; else None, if all that is there opens."""
    if (out / "config.json").exists() or (out / ".saved").exists():
        TextClassifier.load(out)
    saved = read_run_state(out / "training")
    if saved is None or not saved[0].finished:
        return None
    return {n: d for n, d in digests(out).items() if n in ("config.json", "model.safetensors")}


def _prepare_save(folder: Path) -> None:
    classifier("a").save(folder / "a", card="a")
    export(folder / "a", folder / "out", form="onnx")
    (folder / "out/notes.txt").write_text("mine", encoding="utf-8")


def _prepare_export(folder: Path) -> None:
    _prepare_save(folder)
    classifier("b").save(folder / "b", card="b")


def _train(folder: Path) -> None:
    examples = read_text_examples(folder / "reviews.jsonl")
    settings = {"epochs": 2, "batch_tokens": 64, "warmup": 0.1}
    model = {"ngrams": False}
    config = build(FinetuneConfig, {"train": settings, "model": model, "window": vars(WINDOW)})
    finetune(examples, examples, config, init=folder / "a", out=folder / "out", resume=True)


def _prepare_training(folder: Path) -> None:
    reviews(folder / "reviews.jsonl", count=16)
    classifier("a").save(folder / "a", card="a")


WRITERS = {
    "save": Writer(
        _prepare_save, lambda folder: classifier("b").save(folder / "out", card="b"), model_state
    ),
    "export": Writer(
        _prepare_export,
        lambda folder: export(folder / "b", folder / "out", form="zh_albert", precision="int8"),
        model_state,
    ),
    "convert": Writer(
        lambda folder: classifier("a").save(folder / "a", card="a"),
        lambda folder: convert(
            folder / "a", folder / "out", to="zh_albert", dtype=torch.int8, network_of=_network
        ),
        model_state,
    ),
    "build": Writer(
        lambda folder: reviews(folder / "reviews.jsonl"),
        lambda folder: build_shards([folder / "reviews.jsonl"], folder / "out", BuildConfig()),
        shards_state,
    ),
    "training": Writer(_prepare_training, _train, run_state),
}


def _network(stored: Any) -> Any:
    return TextClassifier.network(stored.config, stored.task)


def interrupt(writer: Writer, base: Path, most: int) -> dict[str, Any]:
    """Interrupt a writer, by a kill and by an error, at up to ``most`` steps of each kind."""
    is_bf16_faster()  # measured once, for all processes: on a busy machine the next would differ
    (base / "before").mkdir()
    run(lambda: writer.prepare(base / "before"))

    def fresh() -> Path:
        shutil.rmtree(base / "work", ignore_errors=True)
        return Path(shutil.copytree(base / "before", base / "work"))

    old = writer.state(fresh() / "out")
    count_steps(lambda: writer.write(base / "work"))  # without what imports do
    new = writer.state(base / "work/out")
    assert new != old
    fresh()
    counts = count_steps(lambda: writer.write(base / "work"))
    outcomes: Counter[str] = Counter()
    failures = []
    for step in _chosen(counts, most):
        for fault in ("kill", "error"):
            fresh()
            outcome = run_with_fault(lambda: writer.write(base / "work"), step, fault)
            outcomes[outcome] += 1
            if problem := _problem(writer, base / "work", fault, outcome, [old, new]):
                failures.append([*step, fault, outcome, problem])
    return {"faults": sum(outcomes.values()), **outcomes, "steps": counts, "failures": failures}


def _chosen(counts: Counter[str], most: int) -> list[Step]:
    """Choose steps evenly, the first and the last among them."""
    chosen = []
    for kind in (*CALLS, "write"):
        count = counts[kind]
        wanted = min(count, most)
        numbers = {1 + round(i * (count - 1) / max(wanted - 1, 1)) for i in range(wanted)}
        chosen += [Step(kind, number) for number in sorted(numbers)]
    return chosen


def _problem(
    writer: Writer, folder: Path, fault: Fault, outcome: str, allowed: list[object]
) -> str | None:
    expected = ("killed",) if fault == "kill" else ("told", "done")
    if outcome not in expected:
        return f"expected {' or '.join(expected)}"
    try:
        state = writer.state(folder / "out")
        if state not in allowed:
            return f"neither old nor new: {state}"
        if outcome == "done" and state != allowed[1]:
            return "done, and not the new one"
        if state != allowed[1]:
            run(lambda: writer.write(folder))
            if left := [path.name for path in folder.rglob(EVERY)]:
                return f"still there after it was written again: {left}"
        if writer.state(folder / "out") != allowed[1]:
            return "not the new one, although it was written again"
        lost = (folder.parent / "before/out/notes.txt").exists() - (
            folder / "out/notes.txt"
        ).exists()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "a file that is not the model's is lost" if lost else None


def read_all_the_while(base: Path, loads: int) -> dict[str, Any]:
    """Load a folder again and again while two processes save a model each into it."""
    for version in "ab":
        classifier(version).save(base / version, card=version)
    classifier("a").save(base / "out", card="a")
    children = []
    for version in "ab":
        children.append(os.fork())
        while not children[-1]:
            classifier(version).save(base / "out", card=version)
    known = {version: model_state(base / version) for version in "ab"}
    seen: Counter[str] = Counter()
    failures = []
    try:
        while seen.total() < loads or len(seen) < 2:
            try:
                state = model_state(base / "out")
                version = next((v for v, one in known.items() if one == state), "mixture")
                seen[version] += 1
                failures += [version] * (version == "mixture")
            except Exception as error:
                seen["error"] += 1
                failures.append(f"{type(error).__name__}: {error}")
            time.sleep(0.001)
    finally:
        for child in children:
            os.kill(child, 9)
            os.waitpid(child, 0)
    return {"loads": seen, "failures": failures}


def main() -> None:
    """Interrupt writers, and read while one writes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", nargs="+", help="a writer, or read; read:9 loads so often")
    torch.set_num_threads(1)
    segmenter().cut("预热")  # reads its dictionary once
    results = {}
    for what in parser.parse_args().what:
        name, _, most = what.partition(":")
        with tempfile.TemporaryDirectory() as folder:
            tempfile.tempdir = folder  # of what is killed
            start = time.perf_counter()
            if name == "read":
                result = read_all_the_while(Path(folder), int(most or 200))
            else:
                result = interrupt(WRITERS[name], Path(folder), int(most or 1000))
            tempfile.tempdir = None
        results[name] = {**result, "seconds": round(time.perf_counter() - start, 1)}
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
