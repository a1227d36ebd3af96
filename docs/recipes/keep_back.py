"""Split the first lines of a training file off as dev examples, for sets without a dev file.

    python docs/recipes/keep_back.py $DATA/tasks/msra_ner/train.jsonl.xz 2000 dev.jsonl train.jsonl

The first lines rather than random ones, because lines of one article are adjacent: so hardly any
article is in both files.
"""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path

from zh_albert.files.textio import atomic_write, encode_json
from zh_albert.tables.objects import read_objects


def main() -> None:
    """Read a task file; write its first lines and the others."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path, help="in the task format")
    parser.add_argument("count", type=int, help="number of dev lines")
    parser.add_argument("dev", type=Path)
    parser.add_argument("train", type=Path)
    options = parser.parse_args()
    rows = (row for _, row in read_objects(options.file))
    for path, some in ((options.dev, islice(rows, options.count)), (options.train, rows)):
        with atomic_write(path) as file:
            for row in some:
                file.write(encode_json(row) + b"\n")


if __name__ == "__main__":
    main()
