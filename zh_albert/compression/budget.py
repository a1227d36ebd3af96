"""``compress plan``: the best model within a size and a time, of a few that are worth training."""

from __future__ import annotations

import copy
import json
import math
import shutil
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from zh_albert.checkpoints.files import EXPORT_METADATA, weights_fingerprint
from zh_albert.checkpoints.folder import replace_folder
from zh_albert.checkpoints.manifest import MANIFEST, write_manifest
from zh_albert.checkpoints.resolve import resolve_model
from zh_albert.checkpoints.store import load_config
from zh_albert.compression.candidates import (
    ROUNDED,
    TAUGHT,
    Candidate,
    best_by_capacity,
    candidates,
    recipe_for,
    shaped,
)
from zh_albert.compression.job import compress
from zh_albert.compression.measures import (
    TimedBeside,
    around_weights,
    engines,
    training_seconds,
    without_ngrams,
)
from zh_albert.compression.planned import Budget, Plan, Tried, read_plan, write_plan
from zh_albert.compression.recipe import Recipe, Stage
from zh_albert.compression.stages import refuse_unknown_settings
from zh_albert.compression.work import Work, open_folder
from zh_albert.configio import merged, parse_overrides
from zh_albert.errors import ConfigError
from zh_albert.runtimes.exported import weights_digest
from zh_albert.runtimes.onnx_graph import MATRIX_BITS, SCALES
from zh_albert.runtimes.selection import plain_runtime
from zh_albert.tasks.catalog import task_of
from zh_albert.tasks.task import Task
from zh_albert.tasks.texts import examples_digest, spread
from zh_albert.training.events import Observer
from zh_albert.training.resume import seed_torch
from zh_albert.training.run_folder import release
from zh_albert.training.stages import StageMeter

PLAN = "plan.json"
"""File in the folder: all candidates, and what became of those that were trained."""
_MAKING = "candidates"  # folder of the candidates that are trained
# Estimates are held to a little less than the budget: training changes how well weights deflate,
# pruning by importance takes heads from some layers more than from others, and of the shapes that
# seem just fast enough most were timed a little too fast.
_SPARE_SIZE, _SPARE_TIME = 0.97, 0.9
_TIMED = 100  # examples that speeds are measured on
_TURNS = 3  # how often each time is measured


def plan(
    model: str | Path,
    train: Sequence[Any],
    dev: Sequence[Any],
    *,
    budget: Budget,
    out: Path,
    most: int = 4,
    ngrams: bool = True,
    beside_plain: bool = False,
    settings: Sequence[str] = (),
    resume: bool = False,
    tell: Callable[[str], None] = lambda _: None,
    observers: Sequence[Observer] = (),
) -> Plan:
    """Write the best model within a budget to ``out``.

    Sizes and operations of all candidates are computed, times measured on untrained networks; of
    those within the budget only the ones that no other surpasses are trained, by a recipe each.

    Args:
        model: Bundled name, folder or hub id of a model of a task.
        train: Its training examples.
        dev: Examples that judge; at least one.
        budget: Limits.
        out: Folder to write; ``plan.json`` stands beside the model's files.
        most: How many are trained.
        ngrams: Keep the model's n-grams, whose file counts.
        beside_plain: Train the best one's shape without a teacher, too, to compare.
        settings: ``KEY=value`` of all trainings: ``train.epochs=1``.
        resume: Go on in ``out``; finished trainings are kept.
        tell: Is told what is done, and the estimate of time before the first training.
        observers: Called while training.

    Raises:
        ConfigError: If nothing holds the budget, which is said before any training for size and
            time, with the nearest; or settings are wrong, or ``out`` holds something else.
        CheckpointError: If there is no such model, or it is of no task.
    """
    if most < 1 or not train or not dev:
        raise ConfigError(
            "expected at least one candidate to train, and examples to learn from and to judge "
            f"by; found {most}, {len(train)} and {len(dev)}"
        )
    whole = resolve_model(model)
    _, metadata = load_config(whole)
    task = task_of(whole, metadata)
    given = parse_overrides(settings)
    trainings = {"teach": TAUGHT, "round": ROUNDED}
    stages = tuple(Stage(name=k, tune=merged(v, given)) for k, v in trainings.items())
    refuse_unknown_settings(
        Recipe(title="", family="", source="", stages=stages),
        Work(task=task, source=whole, train=train, dev=dev, folder=out),
    )
    described = (  # what a resumed plan must not change; the least score may
        f"# model {weights_fingerprint(whole)}\n# budget {budget}\n"
        f"# examples {examples_digest(train)}\n# dev {examples_digest(dev)}\n"
        f"# most {most}\n# ngrams {str(ngrams).lower()}\n# settings {' '.join(settings)}\n"
    )
    if (out / PLAN).exists() and not resume:
        raise ConfigError(
            f"{out} already holds a plan: add --resume to continue it, or choose another folder"
        )
    open_folder(out, described, resume=resume)
    try:
        source = whole if ngrams else without_ngrams(whole, out / _MAKING / "model")
        planning = _Planning(task, source, train, dev, budget, given, out, observers)
        known = read_plan(out / PLAN)
        if known is None:
            known = planning.planned(metadata, most, tell)
            write_plan(out / PLAN, known)
        known = planning.trained(known, tell)
        if beside_plain and known.beside is None:
            best = next(one for one in known.candidates if one.name == known.best)
            known = replace(known, beside=planning.tried(best, known.candidates[0], plain=True))
            write_plan(out / PLAN, known)
        shutil.rmtree(out / _MAKING, ignore_errors=True)
        return known
    finally:
        release(out)


@dataclass(frozen=True)
class _Planning:
    """What the steps of a plan share; see ``plan``."""

    task: Task
    source: Path
    train: Sequence[Any]
    dev: Sequence[Any]
    budget: Budget
    settings: Mapping[str, Any]
    out: Path
    observers: Sequence[Observer]

    def planned(
        self,
        metadata: Mapping[str, Any],
        most: int,
        tell: Callable[[str], None],
    ) -> Plan:
        """Return the candidates, and which are to be trained."""
        model = self.task.model.load(self.source)
        found = candidates(self.task, model, metadata, besides=around_weights(self.source))
        if self.budget.max_ms is not None:
            found = self._timed(model, found, metadata)
        within = [one for one in found if self._fits(one)]
        if not within:
            raise ConfigError(self._nothing_holds(found))
        chosen = best_by_capacity(within, found[0], most)
        each = training_seconds(self.task, self.source, spread(self.train, 32))
        seconds = sum(self._seconds(one, found[0], each) for one in chosen)
        tell(f"the whole model: {_needs(found[0])}")
        tell(
            f"{len(found):,} candidates, {len(within):,} within {self.budget}; {len(chosen)} that "
            f"no other surpasses are trained, which takes about {seconds / 60:,.0f} minutes of CPU"
        )
        return Plan(
            candidates=tuple(found), chosen=tuple(one.name for one in chosen), seconds=seconds
        )

    def _fits(self, one: Candidate) -> bool:
        ms = None if one.ms is None else one.ms / _SPARE_TIME
        return self.budget.excess(math.ceil(one.bytes / _SPARE_SIZE), ms) <= 1

    def _timed(
        self, model: Any, found: Sequence[Candidate], metadata: Mapping[str, Any]
    ) -> list[Candidate]:
        """Measure each depth and width, with random weights: time does not depend on them.

        Each is measured in turn with the whole model, and what counts is the share of its time, as
        the speed of a busy machine changes from minute to minute.
        """
        own, *shapes = dict.fromkeys((one.layers, one.heads, one.neurons) for one in found)
        meters = [
            StageMeter("shapes timed", _TURNS * len(shapes), observer)
            for observer in self.observers
        ]
        whole = TimedBeside(self.task, model, spread(self.dev, _TIMED))
        shares: dict[tuple[int, float, float], list[float]] = {shape: [] for shape in shapes}
        shares[own] = [1.0]
        for shape in shapes * _TURNS:
            # The first has the most blocks and the widest words: never too fast.
            widest = next(one for one in found if (one.layers, one.heads, one.neurons) == shape)
            untrained = copy.copy(model)
            untrained.config = shaped(model.config, widest)
            seed_torch(0, 0, 0)
            untrained.module = self.task.model.network(untrained.config, metadata).eval()
            untrained.runtime = plain_runtime(untrained.module)
            shares[shape].append(min(whole.shares(untrained, engines(untrained))))
            for meter in meters:
                meter.advance()
        times = {shape: whole.ms * statistics.median(each) for shape, each in shares.items()}
        return [replace(one, ms=times[one.layers, one.heads, one.neurons]) for one in found]

    def _nothing_holds(self, found: Sequence[Candidate]) -> str:
        nearest = min(found, key=lambda one: self.budget.excess(one.bytes, one.ms))
        has_ngrams = bool(load_config(self.source)[1].get("ngrams"))
        return (
            f"nothing holds {self.budget}: of {len(found):,} candidates the nearest is "
            f"{nearest.name} with {_needs(nearest)}, and {1 - _SPARE_SIZE:.0%} of the size and "
            f"{1 - _SPARE_TIME:.0%} of the time are kept in reserve; raise the budget"
            + (", or leave the n-grams out (--no-ngrams)" * has_ngrams)
        )

    def _seconds(self, one: Candidate, whole: Candidate, each: float) -> float:
        """Estimate the time to train a candidate, if an example takes the whole model ``each``."""
        share, total = one.macs / whole.macs, 0.0
        for stage in recipe_for(one, load_config(self.source)[0], self.settings).stages:
            if stage.tune is not None:
                asked = stage.tune["train"]["epochs"]
                epochs = asked if isinstance(asked, int) else 4
                # Forward and back is about three times forward, which a teacher does once.
                total += epochs * len(self.train) * each * (share + 1 / 3)
                total += epochs * len(self.dev) * each * share / 3
        return total + len(self.dev) * each

    def trained(self, known: Plan, tell: Callable[[str], None]) -> Plan:
        """Train the chosen candidates that have not been; write the best one, if none was yet."""
        by_name = {one.name: one for one in known.candidates}
        for number, name in enumerate(known.chosen, start=1):
            if any(one.name == name for one in known.tried):
                continue
            tell(f"candidate {number} of {len(known.chosen)}: {name}")
            known = replace(
                known, tried=(*known.tried, self.tried(by_name[name], known.candidates[0]))
            )
            write_plan(self.out / PLAN, known)
        holding = [one for one in known.tried if one.holds]
        if not holding:
            nearest = min(known.tried, key=lambda one: self.budget.excess(one.bytes, one.ms))
            raise ConfigError(
                f"nothing holds {self.budget} after training; the nearest is {nearest.name} with "
                f"{_needs(nearest)}; raise the budget a little, or train more (--most)"
            )
        best = max(holding, key=lambda one: one.score)
        least = self.budget.min_score
        if least is not None and best.score < least:
            raise ConfigError(
                f"nothing within {self.budget} reaches {self.task.metric} {least:g}; the nearest "
                f"is {best.name} with {best.score:.4f}; lower --min-score and --resume, or raise "
                "the budget"
            )
        if known.best is None:
            folder = self.out / _MAKING / best.name
            replace_folder(self.out, self._files(folder, best.score if best.int8 else None))
        known = replace(known, best=best.name)
        write_plan(self.out / PLAN, known)
        return known

    def tried(self, one: Candidate, whole: Candidate, *, plain: bool = False) -> Tried:
        """Train a candidate and measure what comes out; ``whole`` is the model as it is."""
        folder = self.out / _MAKING / (one.name + "-plain" * plain)
        config = load_config(self.source)[0]
        recipe = recipe_for(one, config, self.settings, plain=plain)
        asked = self.source, recipe, self.train, self.dev
        compress(*asked, out=folder, resume=True, observers=self.observers)
        model = self.task.model.load(folder)
        found: list[Tried] = []
        tried, times = engines(model), list[float | None]([None])  # int8 only if time counts
        if whole.ms is not None:
            large = self.task.model.load(self.source)
            beside = TimedBeside(self.task, large, spread(self.dev, _TIMED))
            turns = [beside.shares(model, tried) for _ in range(_TURNS)]
            times = [whole.ms * statistics.median(shares) for shares in zip(*turns, strict=True)]
        for engine, ms in zip(tried, times, strict=False):
            model.runtime = engine
            score = float(self.task.evaluate(model, self.dev)[self.task.metric])
            int8 = engine is not tried[0]
            files = self._files(folder, score if int8 else None)
            size = sum(map(len, files.values())) + len(write_manifest(files))
            holds = self.budget.excess(size, ms) <= 1
            found += [Tried(name=one.name, score=score, bytes=size, ms=ms, int8=int8, holds=holds)]
        if any(each.holds for each in found):
            return max(found, key=lambda each: (each.holds, each.score))
        return min(found, key=lambda each: self.budget.excess(each.bytes, each.ms))

    def _files(self, folder: Path, int8: float | None) -> dict[str, bytes]:
        """Return a folder's files; with a score in int8 also what makes ``load`` run it so."""
        files = {
            file.name: file.read_bytes()
            for file in folder.iterdir()
            if file.is_file() and file.name != MANIFEST
        }
        if int8 is not None:
            said = {
                "format": "zh_albert",
                "precision": "int8",
                "weights_sha256": weights_digest(folder),
                "matrix_bits": MATRIX_BITS,
                "scales": SCALES,
                "dev": {"metric": self.task.metric, "int8": int8},
            }
            files[EXPORT_METADATA] = (json.dumps(said, indent=2) + "\n").encode()
        return files


def _needs(one: Tried | Candidate) -> str:
    return f"{one.bytes / 1e6:.3g} MB" + (f" and {one.ms:.3g} ms" if one.ms is not None else "")
