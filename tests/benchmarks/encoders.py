"""Choice of the encoder to ship: dev scores after fine-tuning against the cost of an answer.

Run: python tests/benchmarks/encoders.py small=encoder tiny=runs/distil-tiny random=tiny --json

An encoder is LABEL=FOLDER (or a bundled name; or a preset, for random weights), followed by @RATE
if its learning rate is not 3e-4 and by #MILLIONS, the tokens that it was trained on. Each is
fine-tuned on the same few texts of four sets, without n-grams, with one seed; ``SETS`` gives the
number and length of texts. Texts that are in the dev file are left out of training. Runs are kept
in ``--runs``: the same command continues after an interruption, and a further encoder needs only
its own runs. Milliseconds are for one headline of TNEWS answered alone by PyTorch on one thread,
CPU time, the median of 300. ``--picture FILE.svg`` plots scores against them, ``--curve FILE.svg``
scores against tokens, connecting encoders of one series (LABEL is SERIES:NAME). Needs the task
datasets (ZH_ALBERT_DATA).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

os.environ |= {"OMP_NUM_THREADS": "1"}

import torch

from zh_albert import load
from zh_albert.checkpoints.resolve import resolve_model
from zh_albert.checkpoints.store import load_config
from zh_albert.cli.progress import TrainingDisplay, echo
from zh_albert.configio import build
from zh_albert.model.config import PRESETS
from zh_albert.model.size import parameter_counts
from zh_albert.tasks.catalog import TASKS
from zh_albert.tasks.run import finetune
from zh_albert.tasks.texts import without

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B8860B", "#56B4E9", "#000000")
HEADLINES = "tnews"


class Part(NamedTuple):
    """The training part of a set."""

    task: str
    texts: int
    epochs: int
    max_length: int


SETS = {
    "ocnli": Part("pair", 8000, 2, 96),
    "tnews": Part("classification", 6000, 2, 64),
    "cluener": Part("ner", 2000, 3, 128),
    "chnsenticorp": Part("classification", 1000, 3, 128),
}


@dataclass
class Candidate:
    """An encoder to compare: name, initial weights, learning rate, tokens of training."""

    label: str
    start: str
    rate: float
    tokens: float | None
    """In millions; None: not told."""

    @classmethod
    def parse(cls, given: str) -> Candidate:
        label, _, start = given.partition("=")
        start, _, tokens = start.partition("#")
        start, _, rate = start.partition("@")
        if not start:
            raise SystemExit(f"error: {given}: expected LABEL=FOLDER[@RATE][#MILLIONS]")
        return cls(label, start, float(rate or 3e-4), float(tokens) if tokens else None)

    def settings(self, part: Part) -> dict[str, Any]:
        """Return the settings of a run, as in its configuration file."""
        model: dict[str, Any] = {"dropout": 0.1, "ngrams": False}
        if part.task != "ner":
            model["pooling"] = "mean"
        if self.start in PRESETS:
            model["preset"] = self.start
        return {
            "model": model,
            "window": {"max_length": part.max_length, "stride": 16},
            "train": {"epochs": part.epochs, "peak_lr": self.rate, "batch_tokens": 1024},
        }

    def finetune(self, name: str, data: Path, run: Path) -> float:
        """Fine-tune on a part of a set, unless that was done before; return the best dev score."""
        part = SETS[name]
        task = TASKS[part.task]
        train, dev = (task.read(next(data.glob(f"{split}.jsonl*"))) for split in ("train", "dev"))
        train = without(train, dev)[: part.texts]
        echo(f"{self.label} learns {name}: {len(train)} examples, {len(dev)} for dev")
        with TrainingDisplay() as display:
            _, position = finetune(
                task.job,
                train,
                dev,
                build(task.job.config_type, self.settings(part)),
                init=None if self.start in PRESETS else resolve_model(self.start),
                out=run,
                resume=True,
                observers=[display],
            )
        return round(position.best_metrics[task.metric], 4)


def milliseconds(run: Path, dev: Path) -> float:
    """Return the time for one text, the median of 300."""
    texts = [example.text for example in TASKS["classification"].read(dev)[:310]]
    model: Any = load(run, runtime="torch")
    took = []
    for text in texts:
        began = time.process_time()
        model([text])
        took.append(time.process_time() - began)
    return round(1e3 * statistics.median(took[10:]), 2)


def panels(x_axis: str) -> Iterator[tuple[str, Any]]:
    """Yield a figure with an empty panel for each set."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6.4), layout="constrained", facecolor="white")
    for number, name in enumerate(SETS, start=1):
        axes = figure.add_subplot(2, 2, number)
        axes.set_title(f"{name} dev, {TASKS[SETS[name].task].metric}", loc="left", fontsize=11)
        axes.set_xlabel(x_axis, fontsize=9)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value * 100:.4g} %")
        axes.margins(x=0.3, y=0.15)
        axes.grid(color="#E6E6E6", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.tick_params(length=0, labelsize=9)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        yield name, axes


def write_label(
    axes: Any, text: str, place: tuple[float, float], colour: str, shift: tuple[int, int]
) -> None:
    """Write an encoder's name beside its point, with an offset in points."""
    alignment = {-1: "right", 0: "center", 1: "left"}[(shift[0] > 0) - (shift[0] < 0)]
    axes.annotate(
        text,
        place,
        xytext=shift,
        textcoords="offset points",
        horizontalalignment=alignment,
        color=colour,
        fontsize=9,
    )


def draw_costs(results: dict[str, dict[str, Any]], path: Path) -> None:
    """Plot dev scores against milliseconds per text."""
    from zh_albert.training.curves_picture import write_picture

    for name, axes in panels("milliseconds a text"):
        for number, (label, found) in enumerate(results.items()):
            place = found["ms_per_text"], found["scores"][name]
            colour = COLOURS[number % len(COLOURS)]
            axes.scatter(*place, s=60, color=colour, zorder=2)
            # Sizes repeat: names would overlap.
            write_label(axes, label, place, colour, (7, -3) if number % 2 == 0 else (-7, -3))
        axes.set_xlim(left=0)
        figure = axes.figure
    write_picture(figure, path)


def draw_curve(results: dict[str, dict[str, Any]], path: Path) -> None:
    """Plot dev scores against training tokens on a logarithmic axis; a line for each series."""
    from zh_albert.training.curves_picture import write_picture

    roads: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for label, found in results.items():
        if found["million_tokens"]:
            road, _, stop = label.partition(":")
            roads[road][stop or road] = found
    for name, axes in panels("tokens read, millions"):
        for colour, stops in zip(COLOURS, roads.values(), strict=False):
            places = [(found["million_tokens"], found["scores"][name]) for found in stops.values()]
            axes.plot(*zip(*places, strict=True), marker="o", color=colour)
            for label, place in zip(stops, places, strict=True):
                write_label(axes, label, place, colour, (0, 8))
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
        axes.xaxis.minorticks_off()
        figure = axes.figure
    write_picture(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("encoders", nargs="+", metavar="LABEL=FOLDER[@RATE]")
    parser.add_argument("--runs", type=Path, default=Path("runs/encoders"))
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--picture", type=Path, help="draw scores and costs; .svg or .png")
    parser.add_argument("--curve", type=Path, help="draw scores and tokens read; .svg or .png")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    data = Path(os.environ.get("ZH_ALBERT_DATA", "../shared/data")) / "tasks"
    if not data.is_dir():
        raise SystemExit(f"error: {data}: no such folder; set ZH_ALBERT_DATA to what holds tasks/")
    if (options.picture or options.curve) and set(options.sets) != set(SETS):
        parser.error("pictures show all sets; leave --sets out")
    torch.set_num_threads(1)
    results: dict[str, dict[str, Any]] = {}
    for candidate in map(Candidate.parse, options.encoders):
        runs = options.runs / candidate.label
        scores = {name: candidate.finetune(name, data / name, runs / name) for name in options.sets}
        config, _ = load_config(runs / options.sets[0])
        results[candidate.label] = {
            "scores": scores,
            "encoder_parameters": parameter_counts(config)["encoder_parameters"],
            "million_tokens": candidate.tokens,
        }
        if HEADLINES in scores:
            dev = next((data / HEADLINES).glob("dev.jsonl*"))
            results[candidate.label]["ms_per_text"] = milliseconds(runs / HEADLINES, dev)
    if options.picture:
        draw_costs(results, options.picture)
    if options.curve:
        draw_curve(results, options.curve)
    if options.json:
        json.dump(results, sys.stdout, ensure_ascii=False)
        sys.stdout.write("\n")
    else:
        for label, found in results.items():
            print(label, found)


if __name__ == "__main__":
    main()
