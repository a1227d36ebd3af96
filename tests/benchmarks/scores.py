"""Scores of the bundled models, each with a baseline trained on the same texts.

Run: python tests/benchmarks/scores.py [MODEL[=FOLDER] …] --json

All bundled task models, or those named; FOLDER replaces the bundled model by another one. Each is
scored on complete files as it is loaded by default. The baseline is that of ``zh-albert baseline``
for the model's task (for ``similarity``, also the ridge regression), trained on the model's
training texts without those that are also in one of the files. Sources that a model was not trained
on are scored, too; Weibo posts are those of ``docs/recipes/weibo_moods.py``, DRCD is in simplified
characters (``docs/recipes/simplified.py``). Needs the task datasets (ZH_ALBERT_DATA).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

from zh_albert.checkpoints.resolve import resolve_model
from zh_albert.cli.progress import echo
from zh_albert.tasks.catalog import TASKS
from zh_albert.tasks.classification.baseline import fit_baseline
from zh_albert.tasks.classification.heads import OneClass
from zh_albert.tasks.texts import without

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "recipes"))
from simplified import write_simplified
from weibo_moods import write_sides

WEIBO = "smp2020_ewect_usual"
MADE = {WEIBO: write_sides, "drcd": write_simplified}
"""What makes a split's file of its raw one, where that is not learned from as it is."""
SPLITS_NOT_LEARNED = ("dev", "test", "trial")


class Model(NamedTuple):
    """Task of a bundled model, its training data, and the files to score it on."""

    task: str
    sources: Sequence[str]
    scored: Sequence[str]
    """SOURCE/SPLIT."""
    unknown: Sequence[str] = ()
    """The same, of sources that it has not learned from."""
    metrics: Sequence[str] = ("accuracy",)


REVIEWS = ("chnsenticorp", "waimai_10k", "online_shopping_10_cats", "book_review", WEIBO)
TESTS = tuple(f"{source}/test" for source in REVIEWS)
MODELS: Mapping[str, Model] = {
    "sentiment": Model(
        "classification",
        REVIEWS,
        (
            *("chnsenticorp/dev", "chnsenticorp/test", "waimai_10k/dev", "waimai_10k/test"),
            *("online_shopping_10_cats/dev", "online_shopping_10_cats/test"),
            *("book_review/dev", "book_review/test", f"{WEIBO}/dev", f"{WEIBO}/test"),
        ),
        unknown=("fewclue_eprstmt/dev", "fewclue_eprstmt/test"),
    ),
    "sentiment-nano": Model("classification", REVIEWS, TESTS, unknown=("fewclue_eprstmt/test",)),
    "news": Model("classification", ("tnews",), ("tnews/dev",)),
    "news-nano": Model("classification", ("tnews",), ("tnews/dev",)),
    "ner": Model("ner", ("cluener",), ("cluener/dev",), metrics=("f1",)),
    "ner-nano": Model("ner", ("cluener",), ("cluener/dev",), metrics=("f1",)),
    "ner-msra": Model("ner", ("msra_ner",), ("msra_ner/test",), metrics=("f1",)),
    "nli": Model("pair", ("ocnli",), ("ocnli/dev",)),
    "similarity": Model(
        "pair", ("stsb_zh",), ("stsb_zh/dev", "stsb_zh/test"), metrics=("spearman",)
    ),
    "embedder": Model(
        "embedding",
        ("stsb_zh",),
        ("stsb_zh/dev", "stsb_zh/test"),
        metrics=("spearman",),
    ),
    "reader": Model(
        "reading",
        ("cmrc2018", "dureader_checklist", "drcd"),
        ("cmrc2018/dev", "dureader_checklist/dev", "drcd/dev", "drcd/test"),
        unknown=("dureader_robust/dev",),
        metrics=("exact_match", "f1"),
    ),
}


class Splits:
    """The datasets' files; some are made on the way, see ``MADE``.

    Args:
        data: Holds a folder for each source.
        made: Where files are made.
    """

    def __init__(self, data: Path, made: Path) -> None:
        self._data, self._made = data, made

    def find(self, source: str, split: str) -> Path | None:
        """Return a split's file, or None if there is none."""
        path = next((self._data / source).glob(f"{split}.jsonl*"), None)
        if path is None or source not in MADE:
            return path
        made = self._made / f"{source}-{split}.jsonl"
        MADE[source](path, made)
        return made

    def examples(self, task: str, names: Iterable[tuple[str, str]]) -> list[Any]:
        """Read several splits, as far as they exist."""
        found = (self.find(*name) for name in names)
        return [example for path in found if path for example in TASKS[task].read(path)]


def baseline_scores(model: Model, splits: Splits) -> dict[str, dict[str, float]]:
    """Return the baseline's scores on each file; for classification it is trained once."""
    task = TASKS[model.task]
    learned = splits.examples(model.task, ((source, "train") for source in model.sources))
    kept_out = [(source, split) for source in model.sources for split in SPLITS_NOT_LEARNED]
    learned = without(learned, splits.examples(model.task, kept_out))
    scored = (*model.scored, *model.unknown)
    dev = {name: splits.examples(model.task, [split_name(name)]) for name in scored}
    if model.task != "classification":
        return {name: task.score_baseline(learned, examples) for name, examples in dev.items()}
    head = OneClass.for_labels([example.label for example in learned])
    pipeline = fit_baseline(learned, head)
    found = {}
    for name, examples in dev.items():
        labels = [head.labels[number] for number in pipeline.predict([e.text for e in examples])]
        right = sum(label == str(e.label) for label, e in zip(labels, examples, strict=True))
        found[name] = {"accuracy": right / len(examples)}
    return found


def split_name(name: str) -> tuple[str, str]:
    """Split SOURCE/SPLIT into its parts."""
    source, _, split = name.partition("/")
    return source, split


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=list(MODELS), metavar="MODEL[=FOLDER]")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    data = Path(os.environ.get("ZH_ALBERT_DATA", "../shared/data")) / "tasks"
    if not data.is_dir():
        raise SystemExit(f"error: {data}: no such folder; set ZH_ALBERT_DATA to what holds tasks/")
    result: dict[str, dict[str, dict[str, list[float]]]] = {}
    with tempfile.TemporaryDirectory() as made:
        splits = Splits(data, Path(made))
        for given in options.models:
            name, _, folder = given.partition("=")
            if name not in MODELS:
                raise SystemExit(f"error: {name}: expected one of {', '.join(MODELS)}")
            model = MODELS[name]
            echo(f"{given}: fitting its baseline")
            plain = baseline_scores(model, splits)
            result[given] = {}
            for file in (*model.scored, *model.unknown):
                path = splits.find(*split_name(file))
                assert path is not None
                found = TASKS[model.task].score(resolve_model(folder or name), path)
                scores = {m: [round(s[m], 4) for s in (found, plain[file])] for m in model.metrics}
                echo(f"{given}, {file}: {scores}")
                result[given][file] = scores
    if options.json:
        print(json.dumps(result))
        return
    for given, files in result.items():
        for file, scores in files.items():
            learned = file in MODELS[given.partition("=")[0]].scored
            for metric, (ours, plain_score) in scores.items():
                about = "" if learned else "  (a source it never learned from)"
                print(f"{given:<12}{file:<32}{metric:<12}{ours:<8}{plain_score}{about}")


if __name__ == "__main__":
    main()
