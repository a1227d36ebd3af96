"""What a model of similarity gains by differences of texts that look alike, set by set.

Run: python tests/benchmarks/differences.py [MODEL] [--split test] [--pairs 100000] --json

The same pairs with and without them: AUC of classes, Spearman's correlation of values, and of
PAWS-X also the accuracy at the threshold that is best on 1,000 of its dev pairs. Last, how many of
STS-B's training pairs have a difference and are as good as the same otherwise, and the mean of
their labels, and the CPU time of both ways for LCQMC's pairs, in ms a pair. Needs the task datasets
(ZH_ALBERT_DATA).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from zh_albert.checkpoints.resolve import resolve_model
from zh_albert.tables.objects import read_objects
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.differences.comparison import compare

SETS = ("stsb_zh", "lcqmc", "bq_corpus", "afqmc", "fewclue_bustm", "pawsx_zh")
DATA = Path(os.environ.get("ZH_ALBERT_DATA", "../shared/data")) / "tasks"
Values = NDArray[np.float32]
Labels = NDArray[Any]


def drawn(name: str, split: str, most: int) -> tuple[list[tuple[str, str]], Labels]:
    """Return pairs and their labels: whether they are similar, or values."""
    file = next((DATA / name).glob(f"{split}.jsonl*"), None)
    rows = [row for _, row in read_objects(file)] if file else []
    random.Random(0).shuffle(rows)
    labels = [row["label"] for row in rows[:most]]
    pairs = [(row["text_a"], row["text_b"]) for row in rows[:most]]
    of_classes = bool(labels) and isinstance(labels[0], str)
    return pairs, np.array([one == "similar" for one in labels] if of_classes else labels)


def answers(model: TextClassifier, pairs: Sequence[tuple[str, str]]) -> Iterator[Values]:
    """Yield the values without differences, then with them."""
    highest = model.different_at_most
    for model.different_at_most in (None, highest):
        yield model.scores(pairs)[:, 0]


def score(values: Values, labels: Labels) -> float:
    if labels.dtype == bool:
        return float(roc_auc_score(labels, values))
    return float(spearmanr(labels, values).statistic)


def best_threshold(values: Values, labels: Labels) -> float:
    return float(max(values, key=lambda least: ((values >= least) == labels).mean()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", default="similarity")
    parser.add_argument("--split", default="dev", help="of each set that has it: dev, test")
    parser.add_argument("--pairs", type=int, default=1000, help="of each set")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    model = TextClassifier.load(resolve_model(options.model))
    found: dict[str, Any] = {}
    for name in SETS:
        pairs, labels = drawn(name, options.split, options.pairs)
        if pairs:
            both = list(answers(model, pairs))
            found[name] = [round(score(values, labels), 4) for values in both]
        if name == "pawsx_zh":
            known, right = drawn(name, "dev", 1000)
            least = [best_threshold(values, right) for values in answers(model, known)]
            accuracy = [
                round(float(((values >= limit) == labels).mean()), 4)
                for values, limit in zip(both, least, strict=True)
            ]
            found["pawsx_zh accuracy"] = accuracy
    pairs, _ = drawn("lcqmc", options.split, 500)
    times = [time.process_time(), *(time.process_time() for _ in answers(model, pairs))]
    found["ms a pair"] = [round(2 * spent, 2) for spent in np.diff(times)]
    pairs, labels = drawn("stsb_zh", "train", 1_000_000)
    surely = [compare(*pair).surely == 1 for pair in pairs]
    found["stsb_zh train"] = [sum(surely), round(float(labels[surely].mean()), 2)]
    if options.json:
        print(json.dumps(found))
        return
    for name, (without, with_differences) in found.items():
        print(f"{name:<18} {without:>7}  {with_differences:>7}")


if __name__ == "__main__":
    main()
