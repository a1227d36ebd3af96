"""Sentences with marked entities, as lessons of the bundled "ner" and "ner-msra".

    python docs/recipes/entity_lessons.py $DATA runs/entity-lessons.jsonl --of cluener
    python docs/recipes/entity_lessons.py $DATA runs/msra-lessons.jsonl --of msra

Both sets are of newspaper text with Chinese names. Here are their training sentences with other
entities of the same type, foreign names and brands, nicknames, blanks and full-width letters inside
of names, traditional characters, written as in a chat; and sentences of chats, reviews and notes
with addresses, of a grammar (lessons/entities.toml). What an entity is, is as in the set: CLUENER
has an address as one entity and titles in their 《》; MSRA one of each part of an address, of 老王
and 王总 only 王, and no books, films, games and positions.

Rows are ``{"text", "entities": [{"start", "end", "type"}], "kind"}``, the same each time; no
sentence of a dev or test file. Needs OpenCC (extra "corpora").
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from entity_sentences import Maker, as_row, read_sentence
from held_out import held_out, plain, train_rows

from zh_albert.files.textio import atomic_write, encode_json

SETS = {"cluener": "cluener", "msra": "msra_ner"}
SHARES = {  # parts of all lessons, by the maker of their kind
    "other_names": 0.30,
    "own_names": 0.12,
    "nicknames": 0.08,
    "in_chats": 0.10,
    "blanks": 0.06,
    "traditional": 0.04,
    "written": 0.30,
}
LONGEST = 100  # characters of a sentence


def lessons(name: str, data: Path, count: int) -> Iterator[dict[str, Any]]:
    """Yield so many different rows for a set, in random order."""
    luck = random.Random(1)
    held = held_out(data / "tasks")
    rows = [row for row in train_rows(data / "tasks", SETS[name]) if plain(row["text"]) not in held]
    sentences = [read_sentence(row) for row in rows if len(row["text"]) <= LONGEST]
    maker = Maker(name, [s for s in sentences if any(piece.type for piece in s)], luck)
    found: dict[str, dict[str, Any]] = {}
    for kind, share in SHARES.items():
        wanted = len(found) + round(share * count)
        while len(found) < wanted:
            sentence = getattr(maker, kind)()
            if sentence:
                row = as_row(sentence, kind)
                if plain(row["text"]) not in held:
                    found.setdefault(row["text"], row)
    yield from luck.sample(list(found.values()), len(found))


def main() -> None:
    """Make the lessons; write them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path, help="folder with tasks/")
    parser.add_argument("out", type=Path)
    parser.add_argument("--of", choices=SETS, required=True, help="whose types and sentences")
    parser.add_argument("--lessons", type=int, default=10_000, help="number of rows")
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    with atomic_write(given.out) as file:
        for row in lessons(given.of, given.data, given.lessons):
            file.write(encode_json(row) + b"\n")
            counts[row["kind"]] += 1
    for kind, number in counts.most_common():
        print(f"{kind:12} {number:6,}")


if __name__ == "__main__":
    main()
