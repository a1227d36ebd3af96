"""Files of a report: tables, pictures, and what was not run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from zh_albert.compression.recipe import recipes
from zh_albert.compression.report_arms import ReportConfig
from zh_albert.experiments.comparison import Comparison
from zh_albert.experiments.picture import draw_comparison
from zh_albert.experiments.runs import Outcome
from zh_albert.experiments.table import markdown_table
from zh_albert.files.textio import atomic_write, results_json
from zh_albert.training.curves_picture import write_picture

_AXES = {"ms": "ms for one text, one thread", "MB": "MB of weights"}
_IN_MILLIONS = {"M": "parameters", "MB": "bytes", "M MACs": "macs"}
_HEADINGS = {
    "M": "M parameters",
    "MB": "MB",
    "M MACs": "M MACs a token",
    "ms": "ms a text",
    "texts_per_second": "texts/s in bulk",
    "minutes": "minutes",
    "updates": "updates",
}
_EXPLAINED = (
    "Every arm begins with the same model without its n-grams and sees the same training texts. "
    "Best weights are chosen on part of the dev texts; scores are of the network alone, in fp32, "
    "on all of them. Weights are stored in 8 bits where the recipe says nothing else. Speeds are "
    "of CPU time of one thread, tokenization included, with the engine that is fastest at it (int8 "
    "among them); MACs are for a token of a text of 32. Minutes are the CPU time of a run, its "
    "evaluations included; updates are those of all its trainings."
)


def not_run(config: ReportConfig, done: Mapping[str, Comparison]) -> dict[str, Any]:
    """Return what the report says nothing about: tasks, arms, recipes of the package."""
    used = {arm.recipe for arm in config.arms}
    arms = {}
    for task in config.tasks:
        if (comparison := done.get(task.name)) is not None:
            run = {arm.name for arm in comparison.arms}
            if left := [arm.name for arm in config.arms_of(task) if arm.name not in run]:
                arms[task.name] = left
    return {
        "tasks": [task.name for task in config.tasks if task.name not in done],
        "arms": arms,
        "recipes": [name for name in recipes() if name not in used],
    }


def write_report(
    config: ReportConfig,
    done: Mapping[str, Comparison],
    sizes: Mapping[str, tuple[int, int]],
    out: Path,
) -> None:
    """Write ``report.md``, ``report.json`` and the pictures of the tasks that are done.

    Args:
        config: The report.
        done: Comparison of each task.
        sizes: Numbers of training and dev examples of each.
        out: The folder.
    """
    left = not_run(config, done)
    parts = [f"# {config.title}\n", _EXPLAINED + "\n", *([config.note + "\n"] * bool(config.note))]
    described = []
    for task in config.tasks:
        if (comparison := done.get(task.name)) is None:
            continue
        texts, dev = sizes[task.name]
        shown = _readable(comparison)
        pictures = _draw(shown, task.name, out)
        parts += [
            f"## {task.name}\n",
            f"`{task.model}` compressed with {texts:,} training examples, scored on {dev:,}. "
            f"{task.note}\n",
            markdown_table(shown, headings={shown.score: shown.score, **_HEADINGS}),
            *(f"![{title}]({name}.png)\n" for title, name in pictures),
        ]
        about = {"name": task.name, "model": task.model, "texts": texts, "dev_texts": dev}
        described.append({**about, "note": task.note, **comparison.as_json()})
    parts.append("## Not run\n")
    parts.append("\n".join(_said(left)) + "\n")
    with atomic_write(out / "report.md") as file:
        file.write("\n".join(parts).encode())
    content = {"title": config.title, "note": config.note, "tasks": described, "not_run": left}
    with atomic_write(out / "report.json") as file:
        file.write((results_json(content, indent=2) + "\n").encode())


def _said(left: Mapping[str, Any]) -> list[str]:
    lines = [f"- {task}: {', '.join(arms)}" for task, arms in left["arms"].items()]
    lines += [f"- {task}: the whole task" for task in left["tasks"]]
    if left["recipes"]:
        lines.append(
            f"- recipes that the report's file does not name: {', '.join(left['recipes'])}"
        )
    return lines or ["Nothing was left out."]


def _readable(comparison: Comparison) -> Comparison:
    """Return the same with sizes in units that a table can hold."""

    def readable(run: Outcome) -> Outcome:
        millions = {name: run.metrics[of] / 1e6 for name, of in _IN_MILLIONS.items()}
        found = {**millions, "minutes": run.metrics["minutes"]}
        short = {name: float(f"{value:.3g}") for name, value in found.items()}
        return replace(run, metrics={**run.metrics, **short})

    outcomes = {
        name: {seed: readable(run) for seed, run in runs.items()}
        for name, runs in comparison.outcomes.items()
    }
    return replace(comparison, outcomes=outcomes)


def _draw(comparison: Comparison, name: str, out: Path) -> list[tuple[str, str]]:
    """Draw the score over time and over size; return titles and names of the files."""
    if not any(comparison.outcomes.values()):
        return []
    drawn = []
    for metric, x_title in _AXES.items():
        figure = draw_comparison(
            comparison, x=metric, x_title=x_title, y_title=f"{name}: {comparison.score}"
        )
        stem = f"{''.join(c if c.isalnum() else '-' for c in name)}-{metric.lower()}"
        for ending in ("png", "svg"):
            write_picture(figure, out / f"{stem}.{ending}")
        drawn.append((f"{name}: {comparison.score} over {x_title}", stem))
    return drawn
