"""Milliseconds that the check of a bundled model's manifest takes, and those of its whole opening.

Run: python tests/benchmarks/checked_folders.py [--json]

Medians of nine; the files are in the system's cache.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable

import zh_albert
from zh_albert.checkpoints.resolve import bundled_models, resolve_model
from zh_albert.checkpoints.verified import verified


def milliseconds(action: Callable[[], object]) -> float:
    """Return the median time of an action."""
    seconds = []
    for _ in range(9):
        start = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - start)
    return round(1000 * statistics.median(seconds), 1)


def check(name: str) -> None:
    """Check a folder without reading anything from it."""
    with verified(resolve_model(name)):
        pass


def main() -> None:
    """Print a row for each model."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    for name in bundled_models():
        row = {
            "check": milliseconds(lambda name=name: check(name)),
            "load": milliseconds(lambda name=name: zh_albert.load(name)),
        }
        print(json.dumps({"model": name, **row}) if as_json else f"{name:<12} {row}")


if __name__ == "__main__":
    main()
