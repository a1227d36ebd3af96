"""A reader with penalties of several sets, that seldom declines a question that has an answer.

    python docs/recipes/reader_decisions.py READER OUT dev.jsonl --declined 0.05

Fine-tuning takes the threshold with the best F1 on dev, which depends on how many questions of dev
have no answer. Here it is the highest at which no more than this share of those with an answer is
declined. The penalties for long answers and for words of the question are tuned as there, on all
questions with an answer.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch

from zh_albert.checkpoints.resolve import resolve_model
from zh_albert.tasks.catalog import TASKS
from zh_albert.tasks.reading.penalties import tuned_readings
from zh_albert.tasks.reading.reader import TextReader


def main() -> None:
    """Read a reader and dev questions; write the reader with other penalties and threshold."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("reader", help="a name or a folder")
    parser.add_argument("out", type=Path)
    parser.add_argument("dev", nargs="+", type=Path, help="questions, with and without answers")
    parser.add_argument("--declined", type=float, required=True, help="share, 0 to 1")
    given = parser.parse_args()
    if not 0 <= given.declined <= 1:
        parser.error(f"--declined: expected a number from 0 to 1, found {given.declined:g}")
    folder = resolve_model(given.reader)
    reader = TextReader.load(folder)
    examples = [example for path in given.dev for example in TASKS["reading"].read(path)]
    encoded = reader.encode([(one.question, one.context) for one in examples])
    readings = tuned_readings(reader, encoded, examples)
    odds: dict[bool, list[float]] = {True: [], False: []}
    for example, reading in zip(examples, readings, strict=True):
        odds[bool(example.references)].append(reading.best[0].log_odds if reading.best else -np.inf)
    if not all(odds.values()):
        parser.error("dev: expected questions with an answer and others without one")
    threshold = float(np.quantile(odds[True], given.declined, method="lower"))
    reader.threshold = threshold
    declined = (np.mean([one < threshold for one in odds[has]]) for has in (True, False))
    length, repeat = reader.penalties
    print(f"penalties {length:g} for length, {repeat:g} for words of the question")
    print(
        "threshold {:.2f}: declines {:.1%} with an answer, {:.1%} without".format(
            threshold, *declined
        )
    )
    card = (folder / "README.md").read_text("utf-8")
    reader.save(given.out, card=card, dtype=torch.float32)


if __name__ == "__main__":
    main()
