"""The suite: each task fine-tuned with several seeds, scored beside what others published."""

from __future__ import annotations

import hashlib
import itertools
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from zh_albert.clue.published import MODELS, published
from zh_albert.clue.readers import Row, read_official
from zh_albert.clue.task import ClueTask
from zh_albert.configio import build, merged
from zh_albert.errors import ConfigError, DataError
from zh_albert.files.plain_files import parse_json, read_plain
from zh_albert.files.textio import atomic_write, encode_json, results_json
from zh_albert.tasks.catalog import TASKS
from zh_albert.tasks.classification.head_selection import head_for, refuse_unknown
from zh_albert.tasks.run import finetune
from zh_albert.tasks.texts import has_content
from zh_albert.training.events import Observer, Warned
from zh_albert.training.stages import silent

_ENDINGS = (".jsonl", ".jsonl.xz", ".jsonl.gz", ".jsonl.bz2", ".jsonl.zst")
_TEXTS = ("text", "text_a", "text_b", "question", "context")
_ANSWERS = ("label", "entities", "answers")
_SCORE = "score.json"  # in a run's folder, when it is scored


class Result(NamedTuple):
    """One task's scores, in percent, one for each seed."""

    task: ClueTask
    scores: Sequence[float]

    @property
    def mean(self) -> float:
        """Over the seeds."""
        return statistics.fmean(self.scores)

    @property
    def spread(self) -> float:
        """Their standard deviation; 0 for a single one."""
        return statistics.stdev(self.scores) if len(self.scores) > 1 else 0.0


class Splits(NamedTuple):
    """Files in the task format."""

    train: Path
    dev: Path
    scored: Path


def write_rows(rows: Iterable[Row], out: Path) -> int:
    """Write rows as a task-format file, whole or not at all; return how many."""
    count = 0
    with atomic_write(out) as file:
        for row in rows:
            file.write(encode_json(row) + b"\n")
            count += 1
    return count


def prepare(task: ClueTask, data: Path, folder: Path, *, progress: Observer = silent) -> Splits:
    """Return a task's files in the task format, all of which can be learned from and scored.

    Rows of official files that hold nothing to read, or no answer, are left out.

    Args:
        task: Which one.
        data: The task's folder: with the official files, or with ``train.jsonl`` and ``dev.jsonl``
            in the task format already (and ``test.jsonl``, where scores are of a test); also
            ``.xz``, ``.gz``, ``.bz2``, ``.zst``.
        folder: Where official files are put in the task format.
        progress: Is told how many rows are left out.

    Raises:
        ConfigError: If ``folder`` is that of the official files.
        DataError: If files are missing, not of the official form or cannot be read, or labels
            that are scored do not occur in training.
    """
    train, dev, test = (_ready(data, name) for name in ("train", "dev", "test"))
    if train and dev and (scored := dev if task.scored == task.dev else test):
        return _checked(task, Splits(train, dev, scored))
    if train and dev:
        problem = f"{task.name} is scored on a test file"
        raise DataError(f"{data}: expected test.jsonl beside train and dev: {problem}")
    if folder.resolve() == data.resolve():  # what is put there would be the data the next time
        raise ConfigError(
            f"{data}: holds the official files of {task.name}: choose another folder for the runs"
        )
    splits = {"train": task.train, "dev": task.dev, "scored": task.scored}
    wanted = dict.fromkeys(itertools.chain.from_iterable(splits.values()))
    if task.form == "idioms":
        wanted |= dict.fromkeys(f"{Path(name).stem}_answer.json" for name in wanted)
    if missing := [name for name in wanted if not (data / name).is_file()]:
        raise DataError(
            f"{data}: expected the official files of {task.name}, {', '.join(missing)} "
            f"not found; zh-albert clue fetch {task.name} gets them"
        )
    for split, names in splits.items():
        official = itertools.chain.from_iterable(read_official(task, data / name) for name in names)
        rows = list(official)
        kept = [row for row in rows if _is_whole(row)]
        left_out = len(rows) - len(kept)
        if not kept:
            raise DataError(
                f"{data}, {', '.join(names)}: expected rows with text and answer, found none among "
                f"{left_out:,}; is it a test without answers?"
            )
        if left_out and not (split == "scored" and names == splits["dev"]):
            told = f"{data}, {', '.join(names)}: {left_out} of {len(rows):,} rows left out: nothing"
            progress(Warned(update=0, text=f"{told} to read in them, or no answer"))
        write_rows(kept, folder / f"{split}.jsonl")
    return _checked(task, Splits(*(folder / f"{split}.jsonl" for split in splits)))


def recipe_of(task: ClueTask, overrides: Mapping[str, Any], seed: int) -> Any:
    """Return the settings of a run, the task's recipe with ``overrides`` laid over it.

    Raises:
        ConfigError: If one does not fit, or is the seed.
    """
    if isinstance(train := overrides.get("train"), Mapping) and "seed" in train:
        raise ConfigError("train.seed: seeds are 1, 2, 3 …; --seeds says how many")
    settings = merged(merged(task.recipe, overrides), {"train": {"seed": seed}})
    return build(
        TASKS[task.trained_as].job.config_type, settings, source=f"the recipe of {task.name}"
    )


def run_task(
    task: ClueTask,
    splits: Splits,
    out: Path,
    *,
    init: Path | None,
    seeds: int,
    overrides: Mapping[str, Any],
    progress: Observer = silent,
) -> Result:
    """Fine-tune and score one task; runs that are finished are not run again.

    Args:
        task: Which one.
        splits: See ``prepare``.
        out: Gets ``seed-1``, ``seed-2``, …, each a model folder.
        init: A folder with an encoder to start from; None: random weights.
        seeds: How many.
        overrides: Laid over the task's recipe.
        progress: Is told how far it is.

    Raises:
        ConfigError: If a run was begun with other settings, or one of these does not fit.
        DataError: If a file cannot be read.
    """
    face = TASKS[task.trained_as]
    examples, dev = face.read(splits.train), face.read(splits.dev)
    scores = []
    for seed in range(1, seeds + 1):
        config = recipe_of(task, overrides, seed)
        run = out / f"seed-{seed}"
        finetune(
            face.job,
            examples,
            dev,
            config,
            init=init,
            out=run,
            resume=True,
            observers=[progress],
        )
        scores.append(_score(task, run, splits.scored, progress))
    return Result(task, scores)


def _score(task: ClueTask, run: Path, scored: Path, progress: Observer) -> float:
    """Return a run's score in percent; if it was scored on this very file before, that of then."""
    with scored.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    path = run / _SCORE
    try:
        known = parse_json(read_plain(path))
        if known["sha256"] == digest:
            return _percent(task, known)
    except FileNotFoundError:
        pass
    except (ValueError, KeyError, TypeError):
        raise DataError(f"{path}: damaged; delete it, and the run is scored again") from None
    score = {**TASKS[task.trained_as].score(run, scored, progress=progress), "sha256": digest}
    with atomic_write(path) as file:
        file.write(f"{results_json(score)}\n".encode())
    return _percent(task, score)


def table(results: Sequence[Result]) -> str:
    """Return the scores as text, a task a line, with the published ones beside them."""
    head = ["task", "score", "this run", *MODELS]
    rows = [
        [
            result.task.name,
            result.task.metric,
            f"{result.mean:.2f} ± {result.spread:.2f} ({len(result.scores)})",
            *(published(model, result.task.name) or "–" for model in MODELS),
        ]
        for result in results
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [head, *rows]
    )


def as_json(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return what ``table`` shows, as plain values."""
    return [
        {
            "task": result.task.name,
            "metric": result.task.metric,
            "mean": round(result.mean, 2),
            "spread": round(result.spread, 2),
            "scores": [round(score, 2) for score in result.scores],
            "published": {model: published(model, result.task.name) for model in MODELS},
        }
        for result in results
    ]


def _is_whole(row: Row) -> bool:
    """Return whether a row can be learned from: its texts have content, and it has an answer."""
    texts = [row[name] for name in _TEXTS if name in row] + row.get("choices", [])
    return all(map(has_content, texts)) and any(name in row for name in _ANSWERS)


def _checked(task: ClueTask, splits: Splits) -> Splits:
    """Read all files, so that what is wrong with one shows before anything is learned."""
    face = TASKS[task.trained_as]
    examples = {path: face.read(path) for path in dict.fromkeys(splits)}
    if task.trained_as in ("classification", "pair"):
        labels = [example.label for example in examples[splits.train]]
        if isinstance(labels[0], str):  # what numbers are, a setting says
            for path in splits[1:]:
                refuse_unknown(head_for(labels, None), examples[path], path)
    return splits


def _ready(data: Path, name: str) -> Path | None:
    return next((f for f in (data / f"{name}{end}" for end in _ENDINGS) if f.is_file()), None)


def _percent(task: ClueTask, score: Mapping[str, Any]) -> float:
    value = float(score[task.metric])
    return value if task.metric == "exact_match" else 100 * value
