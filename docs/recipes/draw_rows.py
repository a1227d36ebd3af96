"""Draw rows of task files at random, where all of them would take too long to learn from.

    python docs/recipes/draw_rows.py part.jsonl online_shopping/train.jsonl.xz=12000 book.jsonl=6000

Each file gives as many rows as its number says, or all it has; the same rows each time. With
``--without drawn.jsonl`` rows whose text is in that file are not drawn: those that it left out are.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from zh_albert.tables.objects import read_objects
from zh_albert.textio import atomic_write, encode_json


def main() -> None:
    """Read task files; write the rows drawn, in random order."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("parts", nargs="+", metavar="FILE=ROWS")
    parser.add_argument("--without", type=Path, help="not rows whose text is in this file")
    given = parser.parse_args()
    luck, drawn = random.Random(1), []
    seen = {row["text"] for _, row in read_objects(given.without)} if given.without else set()
    for part in given.parts:
        name, _, count = part.rpartition("=")
        if not (name and count.isdecimal()):
            parser.error(f"expected FILE=ROWS, found {part!r}")
        rows = [row for _, row in read_objects(Path(name)) if row.get("text") not in seen]
        drawn += luck.sample(rows, min(int(count), len(rows)))
    luck.shuffle(drawn)
    with atomic_write(given.out) as file:
        for row in drawn:
            file.write(encode_json(row) + b"\n")


if __name__ == "__main__":
    main()
