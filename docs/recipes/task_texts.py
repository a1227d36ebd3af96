r"""Training texts of the tasks, without labels, as documents for pretraining (pretrain-gpu.toml).

    python docs/recipes/task_texts.py documents $DATA/tasks task-texts.jsonl
    zh-corpora clean task-texts.jsonl cleaned --exclude '$DATA/tasks/*/dev.jsonl*' \
      --exclude '$DATA/tasks/*/test.jsonl*' --exclude '$DATA/tasks/*/trial.jsonl*' \
      --min-paragraph 6 --min-document 6 --min-chinese 0.5 --keep-personal
    python docs/recipes/task_texts.py new cleaned $DATA/corpus new-task-texts.jsonl
    zh-corpora build --corpus new-task-texts.jsonl --out runs/shards/tasks

``clean`` drops paragraphs that share 20 Chinese characters with a dev or test text; ``new`` drops
documents that the corpus already has, and sources under non-commercial licences.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpora_tools.readers import read_documents
from zh_albert.files.textio import atomic_write, encode_json
from zh_albert.tables.objects import read_objects

FIELDS = ("text", "text_a", "text_b", "context", "question", "choices", "corrected")
TRADITIONAL = {"drcd"}
NOT_FREE = {"c3", "ocnli"}  # non-commercial
SHORTEST = 8  # characters


def documents(tasks: Path) -> Iterator[dict[str, str]]:
    """Yield every text of the training files once, in random order."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted(tasks.glob("*/train.jsonl*")):
        source = path.parent.name
        if source in TRADITIONAL:
            continue
        for _, row in read_objects(path):
            for field in FIELDS:
                texts = row.get(field) or []
                for text in (one.strip() for one in ([texts] if isinstance(texts, str) else texts)):
                    if len(text) >= SHORTEST:
                        name = f"{source}-{len(found)}"
                        about = {"id": name, "text": text, "source": source, "domain": "task"}
                        found.setdefault(text, about)
    rows = list(found.values())
    random.Random(1).shuffle(rows)
    yield from rows


def new(cleaned: Path, corpus: Path) -> Iterator[dict[str, Any]]:
    """Yield the cleaned documents with a paragraph that is not in the corpus."""
    left_out = Path(__file__).with_name("left-out-sources.txt").read_text("utf-8").splitlines()
    known = {
        paragraph.strip()
        for path in sorted(corpus.glob("corpus-*.jsonl.xz"))
        for _, row in read_documents(path)
        if row["source"] not in left_out
        for paragraph in row["text"].split("\n")
    }
    for path in sorted(cleaned.glob("corpus-*.jsonl*")):
        for _, row in read_documents(path):
            unknown = any(line.strip() not in known for line in row["text"].split("\n"))
            if unknown and row["source"] not in NOT_FREE:
                yield row


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Training texts of the tasks, for pretraining.")
    steps = parser.add_subparsers(dest="step", required=True)
    for step, places in {"documents": ("tasks",), "new": ("cleaned", "corpus")}.items():
        command = steps.add_parser(step)
        for place in (*places, "out"):
            command.add_argument(place, type=Path)
    given = parser.parse_args()
    rows = documents(given.tasks) if given.step == "documents" else new(given.cleaned, given.corpus)
    with atomic_write(given.out) as file:
        for row in rows:
            file.write(encode_json(row) + b"\n")
        if not file.tell():
            parser.error("no texts: are those the right folders?")
