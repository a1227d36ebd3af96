"""Give a small model the n-grams of the bundled model that taught it, without a copy of them.

    python docs/recipes/shared_ngrams.py runs/bundled/news-nano runs/bundled/news \
        --dev $DATA/tasks/tnews/dev.jsonl

Its config.json names the bundled model, and how much the n-grams weigh beside the smaller network:
what is best on the dev files, unless it is given. The folder is one that `zh-albert export` wrote.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path

from zh_albert.checkpoints.files import NGRAMS
from zh_albert.checkpoints.folder import replace_folder
from zh_albert.checkpoints.resolve import resolve_model
from zh_albert.checkpoints.store import load_config
from zh_albert.tasks.catalog import task_of
from zh_albert.tasks.ner.tagger import TextTagger


def main() -> None:
    """Tune the weight of the n-grams; print the scores without and with them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("small", type=Path, help="folder, which is changed")
    parser.add_argument("large", help="bundled model: its name, or a folder to be bundled")
    parser.add_argument("--dev", type=Path, action="append", required=True)
    parser.add_argument("--weight", type=float, help="of the n-grams, instead of the best on dev")
    given = parser.parse_args()
    folder = resolve_model(given.large)
    task = task_of(given.small, load_config(given.small)[1])
    small, large = (task.model.load(one) for one in (given.small, folder))
    alike = (small.tokenizer.save_files(), small.labels) == (
        large.tokenizer.save_files(),
        large.labels,
    )
    if not alike or small.ngrams or not large.ngrams:
        sys.exit(
            f"error: expected n-grams in {given.large} and none in {given.small}, and the same "
            "vocabulary and labels"
        )
    dev = [example for path in given.dev for example in task.read(path)]
    print("network alone", task.evaluate(small, dev))
    small.ngrams = large.ngrams
    encoded = small.encode([example.text for example in dev])
    if isinstance(small, TextTagger):
        if given.weight is not None:
            sys.exit("error: --weight is for classifiers; a tagger's share is tuned on --dev")
        small.tuned_entities(encoded, [example.entities for example in dev])
    else:
        gold = [example.label for example in dev]
        small.tuned_scores(encoded, gold, task.metric, given.weight)
    scores = task.evaluate(small, dev)
    settings = small.ngrams_settings()
    print("with n-grams", scores, settings)
    files = {path.name: path.read_bytes() for path in given.small.iterdir() if path.is_file()}
    config = json.loads(files["config.json"])
    digest = hashlib.sha256((folder / NGRAMS).read_bytes()).hexdigest()
    named = config["zh_albert"]["task"]
    named["ngrams"] = {**settings, "of": folder.name, "sha256": digest}
    named["dev"] = {name: round(scores[name], 4) for name in named["dev"]}
    if "per_type" in named:
        named["per_type"] = scores["per_type"]
    files["config.json"] = (json.dumps(config, indent=2, ensure_ascii=False) + "\n").encode()
    replace_folder(given.small, files)


if __name__ == "__main__":
    main()
