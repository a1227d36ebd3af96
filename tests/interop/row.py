"""One comparison of the interoperability table."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

THERE, BACK = "ours, opened there", "theirs, opened here"


@dataclass(frozen=True)
class Row:
    """The largest difference between the outputs of one model, here and in a system.

    Attributes:
        system: The other package or project, and its version.
        head: The kind of model.
        direction: ``THERE``, or ``BACK``: what the system has saved.
        largest: The largest difference of an output.
    """

    system: str
    head: str
    direction: str
    largest: float


def print_rows(rows: Iterable[Row]) -> None:
    """Print a JSON line for each, as it is measured."""
    for row in rows:
        print(json.dumps(asdict(row), ensure_ascii=False), flush=True)
