"""Texts a second of the small bundled models beside those that taught them, on real texts.

Run: python tests/benchmarks/nano.py DATA/tasks [--texts 400] [--rounds 7] [--json]

Both answer the same dev texts in turn, as ``load`` opens them, on one thread: all of them as one
list, then some one by one. Seconds are of CPU time; rates are medians of the rounds, ratios of
medians. Of classifiers a ``Cascade`` answers the list, too: its threshold is chosen on 2,000 other
dev texts (fewer where there are not so many). Scores are printed by ``scores.py`` and ``field.py``;
the accuracies here, on the same few texts for all, show what a cascade loses.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ |= {"OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}

import torch

from zh_albert import Cascade, load
from zh_albert.checkpoints.resolve import resolve_model
from zh_albert.tables.objects import read_objects

SETS = {"sentiment": "chnsenticorp", "news": "tnews", "ner": "cluener"}
ONE_BY_ONE, FITTED_ON = 40, 2000


def seconds(answer: Callable[[], object]) -> float:
    """Return the CPU time of a call."""
    begun = time.process_time()
    answer()
    return time.process_time() - begun


def compared(
    name: str, rows: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]], rounds: int
) -> dict[str, Any]:
    """Return texts a second, milliseconds for one, megabytes, accuracy, and ratios of speeds."""
    small, texts = f"{name}-nano", [row["text"] for row in rows]
    models: dict[str, Any] = {one: load(one) for one in (name, small)}
    if "label" in rows[0]:
        given = [row["text"] for row in others], [row["label"] for row in others]
        models["cascade"] = Cascade.fit(models[small], models[name], *given)
    some = texts[:ONE_BY_ONE]
    took: dict[tuple[str, str], list[float]] = {}
    for number in range(rounds + 1):
        for one, model in models.items():
            for way, answer in (
                ("list", lambda model=model: model(texts)),
                ("alone", lambda model=model: [model(text) for text in some]),
            ):
                found = seconds(answer)
                if number:  # the first round warms up
                    took.setdefault((one, way), []).append(found)
    median = {key: statistics.median(values) for key, values in took.items()}
    result: dict[str, Any] = {}
    for one, model in models.items():
        result[one] = {
            "texts_per_second": len(texts) / median[one, "list"],
            "ms": 1000 * median[one, "alone"] / len(some),
            "times_as_fast": median[name, "list"] / median[one, "list"],
            "times_as_fast_alone": median[name, "alone"] / median[one, "alone"],
        }
        if isinstance(model, Cascade):
            result[one] |= {"passed_on": model.passed_on, "threshold": model.threshold}
        else:
            files = (path for path in resolve_model(one).iterdir() if path.is_file())
            result[one]["mb"] = sum(path.stat().st_size for path in files) / 1e6
        if "label" in rows[0]:
            right = sum(a.label == row["label"] for a, row in zip(model(texts), rows, strict=True))
            result[one]["accuracy"] = right / len(rows)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--texts", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    found = {}
    for name, source in SETS.items():
        (path,) = (given.data / source).glob("dev.jsonl*")
        rows = [row for _, row in read_objects(path)]
        random.Random(0).shuffle(rows)
        timed, others = rows[: given.texts], rows[given.texts : given.texts + FITTED_ON]
        found[name] = compared(name, timed, others, given.rounds)
        if not given.json:
            for one, row in found[name].items():
                print(f"{one:<15}", *(f"{key} {value:.4g}" for key, value in row.items()), sep="  ")
    if given.json:
        print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
