"""Scores of the bundled models on the same examples in simplified and in traditional characters.

Run: python tests/benchmarks/scripts.py [MODEL …] --json [--rows 2000]

Files are converted by OpenCC to its own standard of traditional characters, to that of Taiwan, and
to that of Hong Kong; examples whose length a conversion changes are left out of all. Needs the task
datasets (ZH_ALBERT_DATA) and OpenCC (extra "corpora").
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import opencc

from zh_albert.checkpoints.resolve import resolve_model
from zh_albert.files.textio import encode_json
from zh_albert.tables.objects import read_objects
from zh_albert.tasks.catalog import TASKS

FILES = {
    "sentiment": ("classification", "chnsenticorp/dev"),
    "news": ("classification", "tnews/dev"),
    "ner": ("ner", "cluener/dev"),
    "ner-msra": ("ner", "msra_ner/test"),
}
WRITINGS = ("s2t", "s2tw", "s2hk")


def in_writing(row: dict[str, Any], converter: Any) -> dict[str, Any]:
    """Return a row with its text converted; entities have the same characters."""
    text = converter.convert(row["text"])
    entities = [one | {"text": text[one["start"] : one["end"]]} for one in row.get("entities", [])]
    return row | {"text": text} | ({"entities": entities} if "entities" in row else {})


def write_files(source: Path, folder: Path, rows: int) -> dict[str, Path]:
    """Write the same rows in each writing; return the files."""
    converters = {name: opencc.OpenCC(name) for name in WRITINGS}
    paths = {name: folder / f"{name}.jsonl" for name in ("simplified", *WRITINGS)}
    files = {name: path.open("wb") for name, path in paths.items()}
    kept = 0
    for _, row in read_objects(source):
        written = {name: in_writing(row, one) for name, one in converters.items()}
        if any(len(one["text"]) != len(row["text"]) for one in written.values()):
            continue
        for name, one in [("simplified", row), *written.items()]:
            files[name].write(encode_json(one) + b"\n")
        kept += 1
        if kept == rows:
            break
    for file in files.values():
        file.close()
    return paths


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=list(FILES))
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--rows", type=int, default=0, help="0: all")
    options = parser.parse_args()
    data = Path(os.environ.get("ZH_ALBERT_DATA", "../shared/data")) / "tasks"
    result: dict[str, Any] = {}
    for name in options.models:
        task, split = FILES[name]
        [source] = data.glob(f"{split}.jsonl*")
        with tempfile.TemporaryDirectory() as folder:
            paths = write_files(source, Path(folder), options.rows)
            scores = {
                writing: TASKS[task].score(resolve_model(name), path)[TASKS[task].metric]
                for writing, path in paths.items()
            }
        result[name] = {writing: round(float(score), 4) for writing, score in scores.items()}
        if not options.json:
            print(name, result[name], flush=True)
    if options.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
