"""Convert a reading file to simplified characters, so that training on it needs no OpenCC.

    python docs/recipes/simplified.py $DATA/tasks/drcd/train.jsonl.xz drcd-train.jsonl

Questions are left out if their answers would no longer be at their positions.
Needs OpenCC (extra "corpora").
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpora_tools.normalization import simplifier
from zh_albert.files.textio import atomic_write, encode_json
from zh_albert.tables.objects import read_objects


def simplified(value: Any) -> Any:
    """Return a JSON value with all its texts in simplified characters."""
    match value:
        case str():
            return simplifier().convert(value)
        case list():
            return [simplified(item) for item in value]
        case dict():
            return {name: simplified(item) for name, item in value.items()}
    return value


def fitting(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the converted rows of a file whose answers are still at their positions."""
    for _, row in read_objects(path):
        new = simplified(row)
        context = new["context"]
        if all(context[a["start"] :].startswith(a["text"]) for a in new["answers"]):
            yield new


def write_simplified(file: Path, out: Path) -> None:
    """Write a task file in simplified characters."""
    with atomic_write(out) as written:
        for row in fitting(file):
            written.write(encode_json(row) + b"\n")


def main() -> None:
    """Run the conversion from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path, help="in the task format")
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    write_simplified(options.file, options.out)


if __name__ == "__main__":
    main()
