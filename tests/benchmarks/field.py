"""Right answers of the bundled models on hard texts as people type them, by kind.

Run: python tests/benchmarks/field.py [--model FILE=NAME_OR_FOLDER …] --json

The texts (``tests/field``) were written for this, apart from all training texts; nothing
is trained on them. A class, an answer (exactly, or none where there is none), a filling counts as
right or wrong; of pairs, the paraphrase has to be valued above the near-miss; entities are counted
twice, as wanted and as found ones, so that right by tried is F1.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from zh_albert import load
from zh_albert.tables.objects import read_objects
from zh_albert.tasks.reading.metrics import exact_match

FIELD = Path(__file__).parents[1] / "field"
Row = dict[str, Any]
Counts = tuple[int, int]
"""Right ones, and tried ones."""
OF_MSRA = {"name": "PER", "address": "LOC", "scene": "LOC"} | dict.fromkeys(
    ("company", "organization", "government"), "ORG"
)


def of_classes(model: Any, rows: Sequence[Row]) -> Iterator[Counts]:
    pairs = "text_a" in rows[0]
    contents = [(row["text_a"], row["text_b"]) if pairs else row["text"] for row in rows]
    for row, answer in zip(rows, model(contents), strict=True):
        yield int(answer.label == row["label"]), 1


def of_pairs(model: Any, rows: Sequence[Row]) -> Iterator[Counts]:
    near = model([(row["text"], row["paraphrase"]) for row in rows])
    far = model([(row["text"], row["near_miss"]) for row in rows])
    for one, other in zip(near, far, strict=True):
        yield int(one.value > other.value), 1


def of_questions(model: Any, rows: Sequence[Row]) -> Iterator[Counts]:
    answers = model([row["question"] for row in rows], [row["context"] for row in rows])
    for row, answer in zip(rows, answers, strict=True):
        texts = [one["text"] for one in row["answers"]]
        right = exact_match(texts, answer.text) == 1 if texts else not answer.text
        yield int(right), 1


def of_entities(model: Any, rows: Sequence[Row]) -> Iterator[Counts]:
    for row, answer in zip(rows, model([row["text"] for row in rows]), strict=True):
        wanted = {(one["start"], one["end"], one["type"]) for one in row["entities"]}
        if "name" not in model.labels:
            wanted = {(*place, OF_MSRA[type_]) for *place, type_ in wanted if type_ in OF_MSRA}
        found = {(one.start, one.end, one.type) for one in answer}
        yield 2 * len(wanted & found), len(wanted) + len(found)


def of_masks(model: Any, rows: Sequence[Row]) -> Iterator[Counts]:
    for row, [spot] in zip(rows, model([row["text"] for row in rows]), strict=True):
        yield int(spot.candidates[0].text in row["answers"]), 1


JUDGES: dict[str, tuple[str, Callable[[Any, Sequence[Row]], Iterator[Counts]]]] = {
    "sentiment": ("sentiment", of_classes),
    "nli": ("nli", of_classes),
    "similarity": ("similarity", of_pairs),
    "reader": ("reader", of_questions),
    "entities": ("ner", of_entities),
    "entities-msra": ("ner-msra", of_entities),
    "news": ("news", of_classes),
    "fills": ("encoder", of_masks),
}


def judged(name: str, model: str) -> dict[str, Counts]:
    """Return right and tried ones by kind, and of the whole file."""
    rows = [row for _, row in read_objects(FIELD / f"{name.partition('-')[0]}.jsonl")]
    right: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    for row, (good, count) in zip(rows, JUDGES[name][1](load(model), rows), strict=True):
        for kind in (row["kind"], "all"):
            right[kind] += good
            tried[kind] += count
    return {kind: (right[kind], tried[kind]) for kind in tried}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", default=list(JUDGES), help=", ".join(JUDGES))
    parser.add_argument(
        "--model", action="append", default=[], metavar="FILE=MODEL", help="not ours"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    others = dict(one.split("=", 1) for one in options.model)
    result: dict[str, dict[str, Counts]] = defaultdict(dict)
    for name in options.files:
        result[name] = judged(name, others.get(name, JUDGES[name][0]))
        if not options.json:
            for kind, (right, tried) in sorted(result[name].items(), key=lambda it: it[0] == "all"):
                print(f"{name:<14} {kind:<16} {right:>4} of {tried:>4}  {right / tried:.2f}")
    if options.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
