"""Classifiers of few texts: ``AlbertClassifier``, TF-IDF with a linear SVM, mere descriptions.

Run: python tests/benchmarks/few_texts.py DATA/tasks [--per-class 8 …] [--seeds 1 2 3] [--ways …]

Texts are drawn from a train file, without those that are also in its dev file; the same dev texts
are answered each time. Each seed draws its own training texts. Without ``--per-class`` a few
hundred texts of whatever class, 1,000 of dev; with it so many of each class (or all there are) of
five sets, 500 of dev. ``encoder`` is ``AlbertClassifier("encoder")``, ``embedder`` starts from the
bundled sentence vectors; ``… head`` fits the head alone (``epochs=0``), ``… contrast`` after texts
of a class were drawn together, ``default`` is the one of these that ``AlbertClassifier()`` takes.
``descriptions`` learns nothing: the class whose description is
nearest (``SemanticSearch``). ``cpu_s`` is of learning and of answering the dev texts.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from apps.i18n.names import CHINESE
from zh_albert import AlbertClassifier, SemanticSearch, load
from zh_albert.tasks.classification.examples import TextExample, read_text_examples

SIZES = (("waimai_10k", 200), ("waimai_10k", 1000), ("chnsenticorp", 1000), ("tnews", 2000))
SETS = ("tnews", "thucnews_titles", "waimai_10k", "fewclue_csldcp", "fewclue_eprstmt")
DESCRIPTIONS: Mapping[str, str] = {
    **CHINESE.classes,
    "positive": "很好，很满意",
    "negative": "很差，很失望",
    "education": "教育",
    "entertainment": "娱乐",
    "finance": "财经",
    "game": "游戏",
    "politics": "时政",
    "realty": "房产",
    "science": "科技",
    "society": "社会",
    "sports": "体育",
    "stocks": "股票",
}


class Split(NamedTuple):
    """Texts and their labels."""

    texts: list[str]
    labels: list[str]


def albert(init: str, **settings: int) -> Callable[[Split, Split, int], float]:
    """Return the accuracy of a classifier that starts from an encoder."""

    def measured(train: Split, dev: Split, seed: int) -> float:
        model = AlbertClassifier(init, random_state=seed, **settings).fit(*train)
        return float(model.score(*dev))

    return measured


def svm(train: Split, dev: Split, _: int) -> float:
    vectors = TfidfVectorizer(analyzer="char", ngram_range=(1, 3), sublinear_tf=True)
    return float(make_pipeline(vectors, LinearSVC()).fit(*train).score(*dev))


def descriptions(_: Split, dev: Split, __: int) -> float:
    labels = sorted(set(dev.labels))
    search = SemanticSearch(load("embedder"), [DESCRIPTIONS.get(name, name) for name in labels])
    found = [labels[search(text, top_k=1)[0].index] for text in dev.texts]
    return statistics.fmean(a == b for a, b in zip(found, dev.labels, strict=True))


WAYS: Mapping[str, Callable[[Split, Split, int], float]] = {
    "svm": svm,
    "default": albert("auto"),
    "encoder": albert("encoder"),
    "encoder head": albert("encoder", epochs=0),
    "embedder": albert("embedder"),
    "embedder head": albert("embedder", epochs=0),
    "embedder contrast": albert("embedder", epochs=0, contrast=True),
    "descriptions": descriptions,
}


def splits(
    folder: Path, seed: int, *, size: int, per_class: bool, classes: int | None
) -> tuple[Split, Split]:
    """Draw training texts and dev texts from a dataset, of some of its classes."""
    train, dev = (
        read_text_examples(next(folder.glob(f"{name}.jsonl*"))) for name in ("train", "dev")
    )
    known = {example.text for example in dev}
    fresh = [example for example in train if example.text not in known]
    random.Random(0).shuffle(dev)
    luck = random.Random(seed)
    if classes:
        some = {*luck.sample(sorted({str(one.label) for one in dev}), classes)}
        fresh = [one for one in fresh if str(one.label) in some]
        dev = [one for one in dev if str(one.label) in some]
    if not per_class:
        return _split(luck.sample(fresh, size)), _split(dev[:1000])
    of_class: dict[str, list[TextExample]] = defaultdict(list)
    for example in fresh:
        of_class[str(example.label)].append(example)
    drawn = [
        one
        for _, some in sorted(of_class.items())
        for one in luck.sample(some, min(size, len(some)))
    ]
    return _split(drawn), _split(dev[:500])


def _split(examples: Sequence[TextExample]) -> Split:
    return Split([str(e.text) for e in examples], [str(e.label) for e in examples])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with the datasets")
    parser.add_argument("--per-class", type=int, nargs="+", default=[])
    parser.add_argument("--sets", nargs="+", default=SETS, help="with --per-class")
    parser.add_argument("--classes", type=int, help="so many of each set, drawn anew by each seed")
    parser.add_argument("--ways", nargs="+", default=["svm", "encoder"], choices=WAYS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    torch.set_num_threads(1)
    cases = [(name, size) for size in options.per_class for name in options.sets] or SIZES
    result = {}
    for name, size in cases:
        scores: dict[str, list[float]] = defaultdict(list)
        for seed in options.seeds:
            train, dev = splits(
                options.data / name,
                seed,
                size=size,
                per_class=bool(options.per_class),
                classes=options.classes,
            )
            for way in options.ways:
                began = time.process_time()
                scores[way].append(WAYS[way](train, dev, seed))
                scores[f"{way} cpu_s"].append(time.process_time() - began)
        means = {way: round(statistics.fmean(found), 4) for way, found in scores.items()}
        result[f"{name}_{size}"] = means
        if not options.json:
            print(name, size, means, flush=True)
    if options.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
