"""A model between two: weights of one that learned on, mixed with those that it began with.

    python docs/recipes/interpolated.py runs/ner-cluener runs/ner-lessons runs/ner --share 0.8

A model that goes on with other kinds of texts gains on these and loses on those of before; on the
straight line between the weights of before and after, most of the gain is there before most of the
loss (Wortsman et al. 2022, arXiv:2109.01903). What is not the network's (n-grams, labels, card) is
the second model's.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import torch

from zh_albert.checkpoints.resolve import resolve_model
from zh_albert.checkpoints.store import load_config
from zh_albert.tasks.catalog import task_of


def main() -> None:
    """Read two models of the same shape; write the one between."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("before", help="a name or a folder")
    parser.add_argument("after", help="what learned on from it")
    parser.add_argument("out", type=Path)
    parser.add_argument("--share", type=float, required=True, help="of the second model's weights")
    given = parser.parse_args()
    if not 0 <= given.share <= 1:
        parser.error(f"--share: expected a number from 0 to 1, found {given.share:g}")
    folder = resolve_model(given.after)
    task = task_of(folder, load_config(folder)[1])
    before, after = (task.model.load(resolve_model(one)) for one in (given.before, given.after))
    theirs, ours = before.module.state_dict(), after.module.state_dict()
    shapes = [{name: one.shape for name, one in each.items()} for each in (theirs, ours)]
    if shapes[0] != shapes[1]:
        sys.exit(f"error: {given.before} and {given.after}: expected models of the same shape")
    for name, weights in ours.items():
        weights.lerp_(theirs[name], 1 - given.share)
    for name in ("dev", "per_type"):  # scores of the second model
        after.metadata.pop(name, None)
    said = f"""## Weights

Mixed: {given.share:g} of what learned on by the recipe below, the rest what it began with.

"""
    card = re.sub(
        r"## Scores\n.*?(?=## )", said, (folder / "README.md").read_text("utf-8"), flags=re.DOTALL
    )
    after.save(given.out, card=card, dtype=torch.float32)


if __name__ == "__main__":
    main()
