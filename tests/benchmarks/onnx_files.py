"""One network as ``.onnx`` files of both opsets and all precisions: speed in ONNX Runtime.

Run: python tests/benchmarks/onnx_files.py [MODEL] [--texts FILE] [--json]

The files take turns, a batch each on one thread; the median of CPU times is shown. With texts (or
pairs), also the largest difference of a score (a probability, or a value) from fp32.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Mapping
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np

from zh_albert.checkpoints.resolve import resolve_model
from zh_albert.checkpoints.store import load_config
from zh_albert.runtimes.libraries import OnnxRuntime
from zh_albert.runtimes.onnx_graph import OPSET, GraphPrecision, Opset
from zh_albert.runtimes.onnx_network import onnx_model
from zh_albert.runtimes.runtime import Runtime
from zh_albert.runtimes.selection import LazyRuntime
from zh_albert.tasks.catalog import task_of
from zh_albert.tasks.model import TaskModel
from zh_albert.tasks.task import Task
from zh_albert.tokenization.encoding import PaddedBatch

SHAPES = ((1, 27), (18, 27), (4, 128), (2, 256))  # rows and tokens
ROUNDS = 60


def opened(model: TaskModel[Any, Any]) -> dict[tuple[GraphPrecision, Opset], OnnxRuntime]:
    """Return the network's files, opened."""
    return {
        (precision, opset): OnnxRuntime(
            onnx_model(model.module, model.outputs, precision=precision, opset=opset)
        )
        for precision, opset in product(get_args(GraphPrecision), get_args(Opset))
    }


def differences(
    task: Task, model: Any, files: Mapping[tuple[GraphPrecision, Opset], Runtime], texts: Path
) -> dict[str, float]:
    """Return the largest difference of a classifier's scores from fp32, by precision."""
    encoded = model.encode([example.text for example in task.read(texts)])
    scores = {}
    for precision in get_args(GraphPrecision):
        model.runtime = LazyRuntime(partial(files.__getitem__, (precision, OPSET)))
        scores[precision] = model.scores_of(encoded)
    return {
        f"{precision} differs": float(np.abs(found - scores["fp32"]).max())
        for precision, found in scores.items()
    }


def measure(model: Any, files: Mapping[tuple[GraphPrecision, Opset], Runtime]) -> dict[str, float]:
    """Return milliseconds of CPU time per batch, by shape, precision and opset."""
    result = {}
    rng = np.random.default_rng(0)
    for rows, length in SHAPES:
        ids = rng.integers(200, model.config.vocab_size, (rows, length))
        batch = PaddedBatch(ids, np.zeros_like(ids), np.ones_like(ids, dtype=bool))
        times: dict[tuple[str, int], list[float]] = {key: [] for key in files}
        for _ in range(ROUNDS):
            for key, runtime in files.items():
                began = time.process_time()
                runtime(batch)
                times[key].append(1e3 * (time.process_time() - began))
        for (precision, opset), found in times.items():
            result[f"{rows}x{length} {precision} {opset}"] = statistics.median(found)
    return result


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", default="sentiment")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--texts", type=Path, help="labelled texts or pairs of a classifier")
    arguments = parser.parse_args()
    folder = resolve_model(arguments.model)
    task = task_of(folder, load_config(folder)[1])
    model = task.model.load(folder)
    files = opened(model)
    measured = measure(model, files)
    if arguments.texts:
        measured |= differences(task, model, files, arguments.texts)
    if arguments.json:
        print(json.dumps(measured))
    else:
        for case, number in measured.items():
            print(f"{case:20}{number:10.4g}")
