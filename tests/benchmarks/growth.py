"""Rate of a classifier for growing numbers of texts, on one or several threads.

Run: python tests/benchmarks/growth.py [MODEL] --json [--texts 1000 10000 100000] [--threads 1 2]

Each number of threads has a process of its own, which answers 500 texts first and then each number
of texts; the processes alternate. ``cpu`` rates are texts per second of CPU time: if they are equal
on one and two threads, the second thread has no overhead. ``wall`` rates are meaningful only on an
idle machine. Texts are those of ``inference.py``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from typing import Any


def measure(model: str, counts: list[int]) -> dict[str, Any]:
    """Answer the texts; return the rates."""
    from sample_texts import sample_texts

    from zh_albert import load
    from zh_albert.cli.memory import keep_freed_memory, keep_loaded_objects

    keep_freed_memory()
    classifier: Any = load(model)
    keep_loaded_objects()
    for _ in classifier.stream(sample_texts(500, seed=1)):
        pass
    rates: dict[str, Any] = {}
    for count in counts:
        texts = sample_texts(count)
        cpu, wall = time.process_time(), time.monotonic()
        answered = sum(1 for _ in classifier.stream(texts))
        rates[str(count)] = {
            "cpu": round(answered / (time.process_time() - cpu), 1),
            "wall": round(answered / (time.monotonic() - wall), 1),
            "rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        }
    return rates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", default="sentiment", help="a classifier")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--texts", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.model, options.texts)))
        return
    from inference import startup

    result: dict[str, Any] = startup(options.model)
    for threads in options.threads:
        counts = map(str, options.texts)
        ran = subprocess.run(
            [sys.executable, __file__, options.model, "--measure", "--texts", *counts],
            env=os.environ | {"OMP_NUM_THREADS": str(threads)},
            stdout=subprocess.PIPE,
            check=True,
        )
        result[f"threads_{threads}"] = json.loads(ran.stdout)
    print(json.dumps(result) if options.json else "\n".join(f"{k}: {v}" for k, v in result.items()))


if __name__ == "__main__":
    main()
