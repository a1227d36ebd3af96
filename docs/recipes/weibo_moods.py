"""Posts with a known mood, as training texts of ensemble members (sentiment.toml).

    python docs/recipes/weibo_moods.py $DATA/tasks/smp2020_ewect_usual/train.jsonl.xz weibo.jsonl

Happy posts are positive; angry, sad and fearful ones negative; neutral and surprised ones are left
out. Both classes have the same number of posts, drawn at random from the larger one. Each text is
used once, and left out if its copies have different moods.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from zh_albert.files.textio import atomic_write, encode_json
from zh_albert.tables.objects import read_objects

SIDES = {"happy": "positive", "angry": "negative", "sad": "negative", "fear": "negative"}
SIDE_NAMES = ("positive", "negative")


def sides(posts: Path) -> dict[str, str]:
    """Return text → positive or negative; the same number of both, in the order of the file."""
    found: dict[str, set[str]] = {}
    for _, row in read_objects(posts):
        found.setdefault(row["text"].strip(), set()).add(SIDES.get(row["label"], ""))
    known = {text: next(iter(s)) for text, s in found.items() if len(s) == 1 and s != {""}}
    of_side = [[text for text in known if known[text] == side] for side in SIDE_NAMES]
    few = min(map(len, of_side))
    drawn = {text for texts in of_side for text in random.Random(1).sample(texts, few)}
    return {text: side for text, side in known.items() if text in drawn}


def write_sides(posts: Path, out: Path) -> None:
    """Write the posts of both classes as a task-format file, atomically."""
    with atomic_write(out) as file:
        for text, label in sides(posts).items():
            file.write(encode_json({"text": text, "label": label}) + b"\n")


def main() -> None:
    """Read a split; write the posts of both classes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("posts", type=Path, help="a split of SMP2020-EWECT in the task format")
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    write_sides(options.posts, options.out)


if __name__ == "__main__":
    main()
