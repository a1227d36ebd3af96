"""Train a classifier's n-gram model again, without changing its network.

The n-grams of the bundled `news` and `sentiment` were trained in this way (`zh-albert finetune`
trains the same n-grams together with the network). Dev files determine the weight of the n-grams,
with the network as `load` runs it, unless it is given.

    python docs/recipes/ngrams_anew.py news runs/news-anew \
        --train $DATA/tasks/tnews/train.jsonl.xz --dev $DATA/tasks/tnews/dev.jsonl
    zh-albert export runs/news-anew runs/news-int8 --format zh_albert --precision int8 \
        --dev $DATA/tasks/tnews/dev.jsonl

For `sentiment`, `make models` has the files: all reviews, though its network learned on from a part
of them, a weight below dev's best, which other kinds of texts gain from, and windows of 512 tokens,
though it learned in windows of 128: long reviews gain from being read whole.
Of the variants of the n-gram model cross-validation may select the fourth, which had lower scores
on other kinds of texts (docs/experiments/ngrams.md).
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import numpy as np
import torch

from zh_albert.checkpoints.resolve import resolve_model
from zh_albert.tasks.classification.card import classifier_card
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.examples import TextExample, read_text_examples
from zh_albert.tasks.classification.ngram_learning import fit_ngram_classifier
from zh_albert.tasks.texts import without
from zh_albert.tasks.windows import WindowConfig


def _read(paths: list[Path]) -> list[TextExample]:
    return [example for path in paths for example in read_text_examples(path)]


def main() -> None:
    """Write the model with its new n-grams; print its dev scores before and after."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", help="a name or a folder")
    parser.add_argument("out", type=Path, help="folder to write, with int8 weights")
    for name in ("train", "dev", "exclude"):
        parser.add_argument(f"--{name}", type=Path, action="append", default=[])
    parser.add_argument("--weight", type=float, help="of the n-grams, instead of the best on dev")
    parser.add_argument("--window", type=int, nargs=2, help="tokens of a window, and overlap")
    arguments = parser.parse_args()

    classifier = TextClassifier.load(resolve_model(arguments.model))
    if classifier.pairs:
        sys.exit(f"error: {arguments.model}: expected a classifier of texts, found one of pairs")
    if arguments.window:
        length, overlap = arguments.window
        classifier.window = WindowConfig(max_length=length, stride=overlap)
    dev = _read(arguments.dev)
    examples = without(_read(arguments.train), [*dev, *_read(arguments.exclude)])
    encoded = classifier.encode([example.text for example in dev])
    gold = [example.label for example in dev]

    def score(when: str, model: TextClassifier) -> dict[str, float]:
        found = model.head.metrics(gold, model.scores_of(encoded))
        scores = {name: round(value, 4) for name, value in found.items()}
        print(when, scores)
        return scores

    score("before", classifier)
    classifier.ngrams = fit_ngram_classifier(
        classifier.encode([example.text for example in examples]),
        classifier.head.targets([example.label for example in examples]).numpy(),
        np.array([example.weight for example in examples], np.float32),
    )
    classifier.tuned_scores(encoded, gold, classifier.head.metric_names[0], arguments.weight)
    classifier.metadata["dev"] = score("after, before rounding", classifier)
    ngrams = classifier.ngrams
    print(
        f"{len(examples):,} texts; {len(ngrams.names):,} n-grams of up to {ngrams.orders} tokens, "
        f"weight {classifier.ngrams_weight:g}, scale {classifier.calibration_scale:g}"
    )
    card = (resolve_model(arguments.model) / "README.md").read_text(encoding="utf-8")
    recipe = re.search(r"```toml\n(.*?)```", card, re.DOTALL)
    card = classifier_card(classifier, recipe[1] if recipe else "")
    classifier.save(arguments.out, card=card, dtype=torch.int8)
    score("as stored, in floating point", TextClassifier.load(arguments.out))


if __name__ == "__main__":
    main()
