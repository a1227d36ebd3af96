"""Classifier from few texts: ``AlbertClassifier()`` compared with TF-IDF and a linear SVM.

Run: python tests/benchmarks/few_texts.py DATA/tasks --json [--seeds 1 2 3]

Texts are drawn from a train file, without those that are also in its dev file; the same 1,000 dev
texts are answered each time. Each seed draws its own training texts. ``network`` is the network of
the same model without its n-grams.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from zh_albert import AlbertClassifier
from zh_albert.tasks.classification.examples import TextExample, read_text_examples

SIZES = (("waimai_10k", 200), ("waimai_10k", 1000), ("chnsenticorp", 1000), ("tnews", 2000))
DEV = 1000


class Split(NamedTuple):
    """Texts and their labels."""

    texts: list[str]
    labels: list[str]


def splits(folder: Path, size: int, seed: int) -> tuple[Split, Split]:
    """Draw training texts and dev texts from a dataset."""
    train, dev = (
        read_text_examples(next(folder.glob(f"{name}.jsonl*"))) for name in ("train", "dev")
    )
    known = {example.text for example in dev}
    fresh = [example for example in train if example.text not in known]
    random.Random(0).shuffle(dev)
    return _split(random.Random(seed).sample(fresh, size)), _split(dev[:DEV])


def _split(examples: Sequence[TextExample]) -> Split:
    return Split([str(e.text) for e in examples], [str(e.label) for e in examples])


def measure(train: Split, dev: Split, seed: int) -> dict[str, float]:
    """Return the accuracy of each method, and our training time."""
    svm = make_pipeline(
        TfidfVectorizer(analyzer="char", ngram_range=(1, 3), sublinear_tf=True), LinearSVC()
    ).fit(*train)
    began = time.process_time()
    model = AlbertClassifier(random_state=seed).fit(*train)
    seconds = time.process_time() - began
    classifier = model.classifier_
    _, network, _ = classifier.member_scores(classifier.encode(dev.texts))
    alone = [classifier.labels[best] for best in network.argmax(1)]
    return {
        "svm": float(svm.score(*dev)),
        "network": statistics.fmean(a == b for a, b in zip(alone, dev.labels, strict=True)),
        "zh_albert": float(model.score(*dev)),
        "train_cpu_s": seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with the datasets")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    options = parser.parse_args()
    torch.set_num_threads(1)
    result = {}
    for name, size in SIZES:
        found = [measure(*splits(options.data / name, size, seed), seed) for seed in options.seeds]
        result[f"{name}_{size}"] = {
            way: round(statistics.fmean(one[way] for one in found), 4) for way in found[0]
        }
        if not options.json:
            print(name, size, result[f"{name}_{size}"], flush=True)
    if options.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
