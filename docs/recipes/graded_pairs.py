"""Pairs for the last stage of "similarity", beside the lessons: graded, and that move words.

    python docs/recipes/graded_pairs.py $DATA runs/sentences runs/graded-pairs.jsonl

Lessons by rule alone would make the model forget what is alike in meaning. So this file has pairs
of the texts that sentence_vectors.py gave vectors: alike in characters, alike in meaning with few
characters in common, and random ones, each with the teacher's cosine similarity on STS-B's scale
(similar_pairs.py); and the dev pairs of PAWS-X but its first 400, which decide: paraphrases and
non-paraphrases of the same words. A minute on one core; the same file each time.
"""

from __future__ import annotations

import argparse
import random
from itertools import islice
from pathlib import Path

import numpy as np
from held_out import held_out, plain, train_rows
from numpy.typing import NDArray
from similar_pairs import Pair, meant, near, stsb_scale, write_pairs

from zh_albert.tables.objects import read_objects

MOST_CHARACTERS = 40
MOST = {"near": 9_000, "meant": 9_000, "random": 2_000}
PAWSX_DECIDES = 400  # first rows of its dev file, which are not learned from
PAWSX_VALUES = {"similar": 4.5, "different": 2.5}  # the same words, so never far apart


def with_vectors(folder: Path, name: str, vectors: str) -> dict[str, NDArray[np.float32]]:
    """Return the texts of a file of sentence_vectors.py with their vectors."""
    rows = np.load(folder / vectors).astype(np.float32)
    texts = (row for _, row in read_objects(folder / name) if "text" in row)
    return {row["text"]: rows[row["vector"]] for row in texts}


def graded(known: dict[str, NDArray[np.float32]], held: set[str]) -> list[Pair]:
    """Return pairs of short texts of each kind, in random order."""
    luck = random.Random(4)
    texts = sorted(
        text for text in known if len(text) <= MOST_CHARACTERS and plain(text) not in held
    )
    kinds = {
        "near": [(texts[one], texts[other], "near") for one, other in sorted(near(texts, luck))],
        "meant": list(meant(texts, np.stack([known[text] for text in texts]), luck)),
        "random": [(*luck.sample(texts, 2), "random") for _ in range(MOST["random"])],
    }
    pairs = []
    for kind, some in kinds.items():
        pairs += luck.sample(some, min(len(some), MOST[kind]))
    luck.shuffle(pairs)
    return pairs


def main() -> None:
    """Pair texts, value them by their vectors, write the file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path, help="folder with tasks/")
    parser.add_argument("sentences", type=Path, help="folder of sentence_vectors.py")
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    tasks = given.data / "tasks"
    captions = with_vectors(given.sentences, "second.jsonl", "second.npy")
    rows = [
        row
        for row in train_rows(tasks, "stsb_zh")
        if {row["text_a"].strip(), row["text_b"].strip()} <= captions.keys()
    ]
    cosines = [captions[row["text_a"].strip()] @ captions[row["text_b"].strip()] for row in rows]
    scale = stsb_scale(np.array(cosines), [row["label"] for row in rows])
    known = with_vectors(given.sentences, "train.jsonl", "teacher.npy")
    pairs = graded(known, held_out(tasks))
    values = scale(np.array([known[one] @ known[other] for one, other, _ in pairs])).tolist()
    paws = read_objects(tasks / "pawsx_zh" / "dev.jsonl")
    for _, row in islice(paws, PAWSX_DECIDES, None):
        pairs.append((row["text_a"], row["text_b"], "pawsx"))
        values.append(PAWSX_VALUES[row["label"]])
    write_pairs(pairs, values, given.out)


if __name__ == "__main__":
    main()
