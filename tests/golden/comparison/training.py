"""Short trainings: what each task learns in twenty updates, weights and scores."""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.golden.comparison.checkout import (
    COMMAND_LINE,
    CORPUS_TOOLS,
    NOTHING,
    Checkout,
    Comparison,
    ComparisonError,
    Result,
)
from tests.golden.comparison.runs import COMMON, ENCODER_RUNS, RUNS, EncoderRun, Run

_TRIES = 4  # to kill a run before it ends


def trainings(checkout: Checkout, teacher: Path, *, quick: bool) -> Iterator[Comparison]:
    """Make shards, pretrain, distil and fine-tune.

    Args:
        checkout: Whose; its folder holds what ``write_data`` wrote.
        teacher: An encoder's folder to distil.
        quick: Only some of it.
    """
    build = (*CORPUS_TOOLS, "build", "--corpus", "corpus.jsonl", "--out", "shards")
    checkout.run([*build, "--workers", "1"])
    shards = checkout.folder / "shards"
    files = sorted(
        path for path in shards.rglob("*") if path.is_file() and ".job" not in path.parts
    )
    yield Comparison(
        "shards", [Result(str(p.relative_to(shards)), _sha256(p.read_bytes())) for p in files]
    )
    shutil.copytree(teacher, checkout.folder / "teacher")
    for one in ENCODER_RUNS:
        if one.quick or not quick:
            yield _encoder(checkout, one)
    for run in RUNS:
        if run.quick or not quick:
            yield _finetuned(checkout, run)
            if run.name == "choice" and not quick:  # its export is run by one engine everywhere
                export = ("export", "choice", "choice-exported", "--format", "onnx")
                checkout.run([*COMMAND_LINE, *export])


def _encoder(checkout: Checkout, run: EncoderRun) -> Comparison:
    settings = run.write_settings(checkout.folder)
    command = [run.command, settings.name]
    printed = _trained(checkout, command, run.out, killed=run.killed, environment=run.environment)
    return Comparison(f"training {run.out}", trained_results(checkout.folder / run.out, printed))


def _finetuned(checkout: Checkout, run: Run) -> Comparison:
    arguments = ["finetune", "--task", run.task, "--init", run.init, "--out", run.name]
    arguments += ["--train", f"{run.data}.jsonl", "--dev", f"{run.data}-dev.jsonl"]
    arguments += ["--unlabelled", f"{run.data}-unlabelled.jsonl"] if run.unlabelled else []
    settings = {**COMMON, **run.settings}
    if run.killed:
        settings |= {"train.save_every_s": 0, "train.evaluate_every": 5}
    for name, value in settings.items():
        arguments += ["--set", f"{name}={value}"]
    printed = _trained(checkout, arguments, run.name, killed=run.killed)
    return Comparison(f"training {run.name}", trained_results(checkout.folder / run.name, printed))


def _trained(
    checkout: Checkout,
    arguments: list[str],
    out: str,
    *,
    killed: bool,
    environment: Mapping[str, str] = NOTHING,
) -> bytes:
    """Run a job, if wanted with a kill after its first evaluation; return what it prints."""
    command = [*COMMAND_LINE, *arguments, "--json"]
    if not killed:
        return checkout.run(command, environment=environment)
    straight = checkout.folder / f"{out}-straight"
    checkout.run(command)
    (checkout.folder / out).rename(straight)
    for _ in range(_TRIES):
        process = checkout.start(command)
        metrics = checkout.folder / out / "training" / "metrics.jsonl"
        while process.poll() is None:
            if metrics.exists() and '"evaluation"' in metrics.read_text(encoding="utf-8"):
                process.kill()
            time.sleep(0.005)
        _, errors = process.communicate()
        if process.returncode > 0:
            raise ComparisonError(f"{checkout.root}: {out}: {errors.decode()[-2000:]}")
        if process.returncode < 0:
            break
        shutil.rmtree(checkout.folder / out)  # it was done before the kill came
    else:
        raise ComparisonError(f"{checkout.root}: {out}: ended before it could be killed")
    printed = checkout.run([*command, "--resume"])
    whole, resumed = (tensor_results(folder) for folder in (straight, checkout.folder / out))
    if whole != resumed:
        raise ComparisonError(f"{checkout.root}: {out}: killed and resumed is not never stopped")
    return printed


def trained_results(folder: Path, printed: bytes) -> list[Result]:
    """Return what a job has made: all but its card, its settings, and what the clock says."""
    results = tensor_results(folder)
    if (ngrams := folder / "ngrams.npz").exists():
        with zipfile.ZipFile(ngrams) as file:
            results += [
                Result(f"ngrams {n}", _sha256(file.read(n))) for n in sorted(file.namelist())
            ]
    for path in sorted((folder / "training").glob("teacher-*.npy")):
        results.append(Result("the teacher's answers", _sha256(path.read_bytes())))
    results += _values("config.json", json.loads((folder / "config.json").read_bytes()))
    results += _values("printed", json.loads(printed))
    lines = (folder / "training" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    events = [event for event in map(json.loads, lines) if event["event"] == "evaluation"]
    for event in events:
        results += _values(f"evaluation at {event['update']}", event)
    return results


def tensor_results(folder: Path) -> list[Result]:
    """Return the digest of each tensor of a model's folder, and of the training's state.

    The model is stored in half precision; the state has the last weights, and the optimizer's
    moments, in full. Its tensors are not told apart by name, which is nobody's concern.
    """
    model = _tensors(folder / "model.safetensors")
    state = _tensors(folder / "training" / "state.safetensors")
    kinds = sorted(told.rsplit(" ", 1) for told in state.values())
    return [
        *(Result(f"model.safetensors {name}", told) for name, told in sorted(model.items())),
        *(Result(f"training state {kind}", digest) for kind, digest in kinds),
    ]


def _tensors(path: Path) -> dict[str, str]:
    """Return a file's tensors by name: type, shape and digest; see the format of safetensors."""
    content = path.read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    tensors: dict[str, Any] = json.loads(content[8 : 8 + size])
    tensors.pop("__metadata__", None)
    told = {}
    for name, tensor in tensors.items():
        start, end = (8 + size + offset for offset in tensor["data_offsets"])
        told[name] = f"{tensor['dtype']} {tensor['shape']} {_sha256(content[start:end])}"
    return told


def _values(name: str, value: Any) -> list[Result]:
    """Return the leaves of an object, but for those that hold seconds."""
    if isinstance(value, dict):
        parts = ((key, part) for key, part in value.items() if "seconds" not in key)
        return [one for key, part in parts for one in _values(f"{name}.{key}", part)]
    return [Result(name, json.dumps(value, ensure_ascii=False))]


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
