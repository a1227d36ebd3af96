"""Where the time of int8 inference goes: each kind of operator of ``tiny``, and Python around it.

Run: python tests/benchmarks/int8_profile.py [--length 25] --json

One thread; 512 tokens in texts of one length, random weights, ONNX Runtime's own profile.
``products_at_the_limit`` is what the layers' products would take at the limit of this thread
(``machine.py``), in microseconds.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import torch
from machine import cpu_class, layer_shapes, limits

from zh_albert.model.config import PRESETS
from zh_albert.model.heads import SequenceClassifier
from zh_albert.runtimes.onnx_network import onnx_model, sequence_logits
from zh_albert.runtimes.without_telemetry import import_onnxruntime
from zh_albert.tokenization.tokenizer import default_tokenizer

TOKENS, RUNS = 512, 60


def profile(length: int) -> dict[str, float]:
    """Return microseconds of a run by kind of operator, and of the whole."""
    library = import_onnxruntime()
    config = replace(PRESETS["tiny"], vocab_size=default_tokenizer().vocab_size)
    torch.manual_seed(0)
    network = SequenceClassifier(config, 2, pooling="mean").eval()
    options = library.SessionOptions()
    options.intra_op_num_threads, options.enable_profiling = 1, True
    rng, rows = np.random.default_rng(0), max(1, TOKENS // length)
    ids = rng.integers(200, config.vocab_size, (rows, length))
    inputs = {
        "input_ids": ids,
        "token_type_ids": np.zeros_like(ids),
        "attention_mask": np.ones_like(ids),
    }
    with tempfile.TemporaryDirectory() as folder:
        options.profile_file_prefix = str(Path(folder) / "profile")
        model = onnx_model(network, sequence_logits, precision="int8")
        session = library.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        for _ in range(RUNS):
            session.run(None, inputs)
        events: list[dict[str, Any]] = json.loads(Path(session.end_profiling()).read_text())
    runs: list[Counter[str]] = []
    for event in sorted(events, key=lambda one: one["ts"]):
        if event["name"] == "model_run":
            runs.append(Counter({"whole": event["dur"]}))
        elif event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            runs[-1][event["args"]["op_name"]] += event["dur"]
    return {kind: float(np.median([one[kind] for one in runs[5:]])) for kind in runs[-1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--length", type=int, default=25, help="tokens of a text")
    options = parser.parse_args()
    machine = limits()
    found = profile(options.length)
    whole = found.pop("whole")
    layers = PRESETS["tiny"].num_hidden_layers
    work = TOKENS * layers * sum(rows * columns for rows, columns in layer_shapes())
    shares = {kind: round(spent / whole, 3) for kind, spent in found.items()}
    result = {
        "cpu": cpu_class(),
        "limits_gmac_per_second": machine,
        "microseconds": round(whole),
        "products_at_the_limit": round(work / machine["int8"] / 1e3),
        "shares": dict(sorted(shares.items(), key=lambda one: -one[1])),
    }
    print(json.dumps(result) if options.json else "\n".join(f"{k}: {v}" for k, v in result.items()))


if __name__ == "__main__":
    main()
