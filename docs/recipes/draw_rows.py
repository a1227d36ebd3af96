"""Draw rows of task files at random, where all of them would take too long to learn from.

    python docs/recipes/draw_rows.py part.jsonl online_shopping/train.jsonl.xz=12000 book.jsonl=6000

Each file gives as many rows as its number says, or all it has; the same rows each time.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from zh_albert.files.textio import atomic_write, encode_json
from zh_albert.tables.objects import read_objects


def main() -> None:
    """Read task files; write the rows drawn, in random order."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("parts", nargs="+", metavar="FILE=ROWS")
    given = parser.parse_args()
    luck, drawn = random.Random(1), []
    for part in given.parts:
        name, _, count = part.rpartition("=")
        if not (name and count.isdecimal()):
            parser.error(f"expected FILE=ROWS, found {part!r}")
        rows = [row for _, row in read_objects(Path(name))]
        drawn += luck.sample(rows, min(int(count), len(rows)))
    luck.shuffle(drawn)
    with atomic_write(given.out) as file:
        for row in drawn:
            file.write(encode_json(row) + b"\n")


if __name__ == "__main__":
    main()
