"""Make a classifier give one class less often, where it is wrong: for the "neutral" of `sentiment`.

    python docs/recipes/rarer_class.py runs/bundled/sentiment neutral --share 0.03 \
        --without reviews.jsonl posts.jsonl --dev both.jsonl

Files of ``--without`` have no text of the class. Its offset in the n-grams is lowered until at most
the share of each of them gets the class; what that costs on the dev files is printed. The folder is
changed in place; its network stays as it is.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zh_albert.checkpoints.files import NGRAMS
from zh_albert.checkpoints.folder import replace_folder
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.examples import read_text_examples


def main() -> None:
    """Lower the offset; print the shares and the dev scores before and after."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("label", help="the class")
    parser.add_argument("--share", type=float, required=True, help="that may get it of each file")
    parser.add_argument("--without", type=Path, nargs="+", required=True)
    parser.add_argument("--dev", type=Path, nargs="*", default=[])
    given = parser.parse_args()
    model = TextClassifier.load(given.folder)
    place, ngrams = model.labels.index(given.label), model.ngrams
    assert ngrams is not None, "its offset is one of the n-grams"
    files = {path: read_text_examples(path) for path in [*given.without, *given.dev]}
    logs: dict[Path, NDArray[np.float64]] = {}
    for path, examples in files.items():
        scores = model.scores([example.text for example in examples]).astype(np.float64)
        logs[path] = np.log(np.maximum(scores, 1e-12))

    def told(lower: float) -> None:
        for path, found in logs.items():
            moved = found.copy()
            moved[:, place] -= lower
            answers = [model.labels[best] for best in moved.argmax(1)]
            share = answers.count(given.label) / len(answers)
            gold = [str(example.label) for example in files[path]]
            right = np.mean([a == b for a, b in zip(answers, gold, strict=True)])
            about = f"  right {right:.4f}" if path in given.dev else ""
            print(f"  {path.name}: {given.label} {share:.4f}{about}")

    # How far the class is ahead of the best other one: lowered by that much, it is no longer given.
    needed = 0.0
    for path in given.without:
        ahead = logs[path][:, place] - np.delete(logs[path], place, axis=1).max(1)
        allowed = int(given.share * len(ahead))
        needed = max(needed, float(np.sort(ahead)[::-1][allowed]) + 1e-6)
    print("before")
    told(0)
    print(f"lowered by {needed:.4f} in the logarithm of the probability")
    told(needed)
    step = needed / (model.calibration_scale * model.ngrams_weight)
    offsets = ngrams.offsets.copy()
    offsets[place] -= step
    content = {path.name: path.read_bytes() for path in given.folder.iterdir() if path.is_file()}
    content[NGRAMS] = dataclasses.replace(ngrams, offsets=offsets).to_bytes()
    replace_folder(given.folder, content)


if __name__ == "__main__":
    main()
