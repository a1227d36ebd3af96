"""Whether two checkouts answer and learn alike, to the last bit.

Run: python tests/golden/compare.py OLD NEW [--quick] [--json]
Both are run by this interpreter on this machine, each with its own packages, at the same time. They
are given the same files and texts, made here from seeds (and from sentences of OLD's demo page),
and have to give the same:

- training: what ``zh-corpora build``, twenty updates of ``pretrain`` and ``distil``, and twenty of
  each task write: every tensor, n-grams, what a teacher said, ``config.json``, scores at each
  evaluation, what is printed. With and without teachers; some runs are killed and go on. Not the
  model card, nor what the clock says.
- answers: of every bundled model, run by default, by PyTorch, ONNX Runtime and OpenVINO, asked by a
  stream, a list and one by one; by ``zh-albert predict`` from each form of file; and over HTTP,
  byte for byte. Models that OLD has trained are asked by both, too: heads that no bundled model
  has, and folders that an older version wrote.

By default all texts are asked; another runtime is asked a quarter of them, each another one. A line
is printed as soon as both have made the same thing, and the first results that differ. The exit
code is 0 where all are equal, 1 where some differ, 2 where something could not be compared.
``--quick`` takes a part of the texts, runtimes and trainings; ``--only`` those stages that are
named; ``--keep FOLDER`` leaves what both have written there. All takes about ten minutes on two
cores that have nothing else to do, the quick comparison two.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import queue
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TextIO

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.golden.comparison.checkout import Checkout, Comparison, ComparisonError, end_all
from tests.golden.comparison.commands import (
    library_answers,
    library_plan,
    predictions,
    served,
)
from tests.golden.comparison.lessons import write_data
from tests.golden.comparison.runs import ASKED
from tests.golden.comparison.texts import Inputs, make_inputs, page_phrases
from tests.golden.comparison.training import trainings

MODELS = {
    "encoder": "masks",
    "sentiment": "texts",
    "news": "texts",
    "ner": "texts",
    "ner-msra": "texts",
    "reader": "questions",
    "nli": "pairs",
    "similarity": "pairs",
    "embedder": "texts",
}
"""The bundled models, and what each is asked."""
RUNTIMES = (
    ("torch", "fp32"),
    ("onnxruntime", "fp32"),
    ("openvino", "fp32"),
    ("openvino", "bf16"),
)
STAGES = ("training", "answers", "predict", "serve")
_SHOWN = 3  # results that differ, of each comparison

Stage = Callable[[Checkout], Iterator[Comparison]]


class Verdict(NamedTuple):
    """How a comparison came out."""

    name: str
    digests: tuple[str, str]
    results: int
    differing: list[dict[str, Any]]
    """The first ones: what, old and new."""


def bundled_runs(*, quick: bool) -> list[dict[str, Any]]:
    """Return what ``answers.py`` is to ask the bundled models."""
    found = [one for one in RUNTIMES if one[0] == "torch" or importlib.util.find_spec(one[0])]
    models = []
    for name, kind in MODELS.items():
        runs = [_run("default", {}, alone=12 if quick else 40)]
        others = found[:1] if name == "encoder" or quick else found
        for number, (engine, precision) in enumerate(others):
            settings = {"engine": engine, "precision": precision}
            run = _run(f"{engine} {precision}", settings, every=16 if quick else 4, start=number)
            runs.append(run)
        models.append({"name": name, "path": name, "kind": kind, "runs": runs})
    return models


def trained_runs(folder: Path) -> list[dict[str, Any]]:
    """Return what ``answers.py`` is to ask the models that were trained in a folder."""
    return [
        {"name": f"trained {name}", "path": str(folder / name), "kind": kind, "runs": runs}
        for name, kind in ASKED.items()
        if (folder / name / "config.json").exists()
        for runs in [
            [
                _run(f"{engine} fp32", {"engine": engine, "precision": "fp32"}, every=8)
                for engine in ("torch", "onnxruntime")
            ]
        ]
    ]


def _run(
    name: str, settings: dict[str, str], *, every: int = 1, start: int = 0, alone: int = 10
) -> dict[str, Any]:
    return {"name": name, "settings": settings, "every": every, "start": start, "alone": alone}


def compared(stage: Stage, checkouts: Sequence[Checkout], failures: list[str]) -> Iterator[Verdict]:
    """Run a stage by both checkouts at once and yield each comparison when both have made it.

    Args:
        stage: See there.
        checkouts: The old one and the new one.
        failures: Told what could not be compared.
    """
    made: queue.Queue[tuple[int, Comparison | None]] = queue.Queue()

    def work(side: int) -> None:
        try:
            for comparison in stage(checkouts[side]):
                made.put((side, comparison))
        except Exception as error:  # also a mistake here: the other side is to end
            told = str(error) if isinstance(error, ComparisonError) else repr(error)
            failures.append(f"{('OLD', 'NEW')[side]}: {told}")
            print(f"FAILED  {failures[-1]}", file=sys.stderr, flush=True)
        finally:
            made.put((side, None))

    threads = [threading.Thread(target=work, args=(side,), daemon=True) for side in (0, 1)]
    for thread in threads:
        thread.start()
    waiting: dict[str, dict[int, Comparison]] = {}
    running = len(threads)
    while running:
        side, comparison = made.get()
        if comparison is None:
            running -= 1
            continue
        sides = waiting.setdefault(comparison.name, {})
        sides[side] = comparison
        if len(sides) == len(checkouts):
            yield verdict(sides[0], sides[1])
            del waiting[comparison.name]
    for name in waiting:
        failures.append(f"{name}: only one checkout has made it")
        print(f"FAILED  {failures[-1]}", file=sys.stderr, flush=True)


def verdict(old: Comparison, new: Comparison) -> Verdict:
    """Compare results in their order."""
    differing = []
    for first, second in itertools.zip_longest(old.results, new.results):
        if first != second:
            shown = {"what": (first or second).what, "old": first and first.found}
            differing.append({**shown, "new": second and second.found})
            if first and second and first.what != second.what:
                differing[-1]["what"] += f" (new: {second.what})"
    digests = old.digest, new.digest
    return Verdict(old.name, digests, len(old.results), differing[:_SHOWN])


def shown_difference(result: dict[str, Any]) -> str:
    """Return a few lines: what was asked, and both answers from a little before they part."""
    old, new = (str(result[side]) for side in ("old", "new"))
    same = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
    start = max(0, same - 40)
    lines = [f"    {result['what'][:200]!r}"]
    lines += [
        f"      {side} {text[start : start + 160]!r}" for side, text in (("old", old), ("new", new))
    ]
    return "\n".join(lines)


def stages_of(inputs: Inputs, old: Checkout, *, quick: bool) -> dict[str, Stage]:
    """Return what each stage does with a checkout, in their order."""
    encoder = old.root / "zh_albert" / "bundled" / "encoder"

    def answers(checkout: Checkout) -> Iterator[Comparison]:
        models = [*trained_runs(old.folder), *bundled_runs(quick=quick)]
        return library_answers(checkout, library_plan(checkout.folder, models, inputs))

    return {
        "training": partial(trainings, teacher=encoder, quick=quick),
        "answers": answers,
        "predict": partial(predictions, models=MODELS, inputs=inputs, quick=quick),
        "serve": partial(served, models=MODELS, inputs=inputs, texts=24 if quick else 64),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path, help="the checkout whose answers are right")
    parser.add_argument("new", type=Path, help="the checkout to be compared with it")
    parser.add_argument("--quick", action="store_true", help="a part: about two minutes")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--only", nargs="+", choices=STAGES, default=STAGES, metavar="STAGE")
    parser.add_argument("--keep", type=Path, help="a folder to work in that is not removed")
    options = parser.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="compare-"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends what runs and clears away, too
    try:
        sys.exit(compare(options, folder.resolve()))
    finally:
        end_all()
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)


def compare(options: argparse.Namespace, folder: Path) -> int:
    """Compare, print, and return the exit code."""
    begun = time.monotonic()
    roots = {"old": options.old.resolve(), "new": options.new.resolve()}
    checkouts = [Checkout(root, folder / side) for side, root in roots.items()]
    inputs = make_inputs(roots["old"], quick=options.quick)
    verdicts: list[Verdict] = []
    failures: list[str] = []
    for checkout in checkouts:
        try:
            checkout.folder.mkdir(parents=True)
            checkout.check()
        except FileExistsError:
            print(f"error: {checkout.folder} is there already: name a new folder", file=sys.stderr)
            return 2
        except ComparisonError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        write_data(checkout.folder, page_phrases(roots["old"]))
    stages = stages_of(inputs, checkouts[0], quick=options.quick)
    for name in STAGES:
        if name not in options.only:
            continue
        for one in compared(stages[name], checkouts, failures):
            verdicts.append(one)
            _print(one, time.monotonic() - begun, sys.stderr if options.json else sys.stdout)
    different = [one.name for one in verdicts if one.differing]
    if options.json:
        result = {
            "different": different,
            "failures": failures,
            "seconds": round(time.monotonic() - begun, 1),
            "comparisons": [one._asdict() for one in verdicts],
        }
        print(json.dumps(result))
    else:
        print(
            f"{len(verdicts) - len(different)} of {len(verdicts)} comparisons are equal "
            f"({sum(one.results for one in verdicts):,} results), {len(failures)} failed, "
            f"{time.monotonic() - begun:.0f} s"
        )
    return 2 if failures else 1 if different else 0


def _print(one: Verdict, seconds: float, file: TextIO) -> None:
    equal = "DIFFERENT" if one.differing else "equal"
    digests = "  ".join(one.digests)
    line = f"{seconds:>5.0f} s  {one.name:<44} {digests}  {one.results:>5}  {equal}"
    print("\n".join((line, *map(shown_difference, one.differing))), file=file, flush=True)


if __name__ == "__main__":
    main()
