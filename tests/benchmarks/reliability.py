"""Failures under faults: what is cut off, damaged, hostile, odd or slow, by kind.

Run: python tests/benchmarks/reliability.py [KIND …] [--json]

Nothing is timed and nothing is downloaded. Exits with 1 if anything failed. The kinds:

interruptions   kills and errors at every step of a save, a conversion, a build of shards, an
                export and a training run, and a reader beside two writers: old or new, never both
folders         damaged and hostile model folders: one line and exit code 2, soon, in little memory
strings         odd strings, twice: slices of the user's own string, and the same answer again
neighbours      the same texts in other batches, orders and alone: the same answers
clients         requests beside clients that hold their connections: all answered, those closed
lookups         each way in with its system calls recorded: no other host, no file left behind
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.helpers.damaged_folders import damaged
from tests.helpers.ended_commands import HONEST, ends, problem
from tests.helpers.fuzzed_models import fuzz
from tests.helpers.hostile_folders import CASES
from tests.helpers.interruptions import interruptions
from tests.helpers.same_answers import differing
from tests.helpers.traced import why_not_traceable
from tests.helpers.ways_in import CACHES, WAYS, trace_way
from zh_albert.checkpoints.resolve import bundled_models

STRINGS = dict.fromkeys(bundled_models(), 2850) | {"encoder": 100}  # it is a hundredth as fast
ANSWERING_S = 10  # ONNX Runtime reports after 2 seconds, if it does


class Tried(NamedTuple):
    """What came of one kind of fault, or of a part of it.

    Attributes:
        what: What was tried.
        tried: How often.
        failed: What failed.
    """

    what: str
    tried: int
    failed: list[str]


def try_interruptions() -> Iterator[Tried]:
    """Kills and errors at each step of a writer; see ``tests.helpers.interrupted``."""
    writers = ("save", "convert", "build", "export", "training")
    results = interruptions(*writers, "read:200")
    for name in writers:
        one = results[name]
        yield Tried(f"interruptions: {name}", one["faults"], _texts(one["failures"]))
    read = results["read"]
    yield Tried("interruptions: reader", sum(read["loads"].values()), _texts(read["failures"]))


def try_folders() -> Iterator[Tried]:
    """``predict`` on damaged and hostile folders."""
    for what, cases in {"damaged": damaged(), "hostile": CASES}.items():
        with tempfile.TemporaryDirectory() as root:
            ended = ends(Path(root), cases)
        found = {name: problem(case, ended[name], ended[HONEST]) for name, case in cases.items()}
        failed = [f"{name}: {text}" for name, text in found.items() if text]
        yield Tried(f"folders: {what}", len(cases), failed)


def try_strings() -> Iterator[Tried]:
    """Odd strings, to each bundled model."""
    for name, count in STRINGS.items():
        yield Tried(f"strings: {name}", *fuzz(name, count))


def try_neighbours() -> Iterator[Tried]:
    """Texts among others and alone, to each bundled model."""
    for name in bundled_models():
        compared, different = differing(name, 500, 50)
        yield Tried(f"neighbours: {name}", compared, _texts(different))


def try_clients() -> Iterator[Tried]:
    """Requests of 10 clients, beside 300 that hold their connections."""
    script = Path(__file__).with_name("serving.py")
    asked = ["--clients", "10", "--slow", "300", "--quick", "--json"]
    ran = subprocess.run(
        [sys.executable, script, *asked], capture_output=True, text=True, check=False
    )
    if ran.returncode:
        yield Tried("clients", 1, [ran.stderr])
        return
    seen = json.loads(ran.stdout)
    wrong = [f"wrong: {one}" for one in seen["first_wrong"]]
    wrong += ["wrong"] * (seen["wrong"] - len(wrong))
    yield Tried("clients: requests", seen["requests"], [*wrong, *["lost"] * seen["lost"]])
    yield Tried("clients: held open", 300, ["still open"] * seen["slow_still_open"])


def try_lookups() -> Iterator[Tried]:
    """Each way in, recorded by strace."""
    if reason := why_not_traceable():
        yield Tried("lookups", len(WAYS), [reason])
        return
    for way in WAYS:
        with tempfile.TemporaryDirectory() as folder:
            seen = trace_way(way, Path(folder), answering_s=ANSWERING_S)
        failed = [*seen.calls, *set(seen.files) - {*CACHES.get(way.__name__, [])}]
        if seen.code:
            failed.append(f"exit code {seen.code}: {seen.printed[-1000:]}")
        yield Tried(f"lookups: {way.__name__}", 1, failed)


KINDS: dict[str, Callable[[], Iterator[Tried]]] = {
    "interruptions": try_interruptions,
    "folders": try_folders,
    "strings": try_strings,
    "neighbours": try_neighbours,
    "clients": try_clients,
    "lookups": try_lookups,
}


def _texts(failures: list[object]) -> list[str]:
    return [json.dumps(failure, default=str) for failure in failures]


def _line(what: str, tried: int, failed: int) -> str:
    return f"{what:<28} {tried:>7,} tried {failed:>5,} failed"


def main() -> None:
    """Print a row as soon as it is there; with --json one object at the end."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"{', '.join(KINDS)}; else all")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if unknown := set(options.kinds) - KINDS.keys():
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(KINDS)}")
    rows: list[Tried] = []
    for kind in options.kinds or KINDS:
        for row in KINDS[kind]():
            rows.append(row)
            if not options.json:
                print(_line(row.what, row.tried, len(row.failed)), flush=True)
                for text in row.failed[:10]:
                    print(f"  {text}", flush=True)
    failed = sum(len(row.failed) for row in rows)
    if options.json:
        print(json.dumps({"failed": failed, "rows": [row._asdict() for row in rows]}))
    else:
        print(_line("all", sum(row.tried for row in rows), failed))
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
