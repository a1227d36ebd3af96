"""The examples of the tabs: ``examples.csv`` in their folders, written for this page."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple


class Example(NamedTuple):
    """A text to try, or two.

    Attributes:
        texts: What the model reads, one for each box: always Chinese.
        meaning: A translation, for visitors who do not read Chinese.
    """

    texts: tuple[str, ...]
    meaning: str


def read_examples(tab: str) -> dict[str, list[Example]]:
    """Read a tab's examples, in the groups in which the page shows them.

    Args:
        tab: The name of the tab's folder.

    >>> [example.texts[0] for example in read_examples("pairs")["similarity"]]
    ['支付密码忘了怎么办', '信用卡怎么还款', '客户投诉了快递员']
    """
    groups: dict[str, list[Example]] = {}
    path = Path(__file__).parent / "tabs" / tab / "examples.csv"
    with path.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    for group, meaning, *texts in rows:
        groups.setdefault(group, []).append(Example(tuple(texts), meaning))
    return groups
