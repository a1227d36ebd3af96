"""Accuracy of an encoder, opened by ``transformers``, for one masked Chinese character.

Run: python tests/benchmarks/fill_mask.py [FOLDER …] --json

In each of the first 2,000 dev texts of ChnSentiCorp and TNEWS one Chinese character is masked, the
same one each time; texts are truncated to 128 tokens. Needs the task datasets (ZH_ALBERT_DATA).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import transformers

from zh_albert.checkpoints.resolve import resolve_model
from zh_albert.tables.objects import read_objects
from zh_albert.tokenization.characters import is_chinese

SETS = ("chnsenticorp", "tnews")


def accuracy(folder: Path, texts: list[str]) -> float:
    tokenizer = transformers.BertTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32).eval()
    rng = random.Random(0)
    rows, wanted = [], []
    for text in texts:
        ids = tokenizer(text, truncation=True, max_length=128)["input_ids"]
        tokens = tokenizer.convert_ids_to_tokens(ids)
        places = [i for i, token in enumerate(tokens) if len(token) == 1 and is_chinese(token)]
        if places:
            place = rng.choice(places)
            wanted.append((place, ids[place]))
            ids[place] = tokenizer.mask_token_id
            rows.append(ids)
    right = 0
    order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
    for start in range(0, len(order), 32):
        chosen = order[start : start + 32]
        batch = tokenizer.pad({"input_ids": [rows[row] for row in chosen]}, return_tensors="pt")
        with torch.inference_mode():
            best = model(**batch).logits.argmax(-1)
        right += sum(int(best[i, wanted[row][0]]) == wanted[row][1] for i, row in enumerate(chosen))
    return right / len(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=["encoder"], help="names or folders")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="300 texts of each set")
    options = parser.parse_args()
    data = Path(os.environ.get("ZH_ALBERT_DATA", "../shared/data")) / "tasks"
    if not data.is_dir():
        raise SystemExit(f"error: {data}: no such folder; set ZH_ALBERT_DATA to what holds tasks/")
    transformers.logging.set_verbosity_error()
    result: dict[str, dict[str, float]] = {}
    for model in options.models:
        result[model] = {}
        for name in SETS:
            texts = [str(row["text"]) for _, row in read_objects(data / name / "dev.jsonl")]
            texts = texts[: 300 if options.quick else 2_000]
            result[model][name] = round(accuracy(resolve_model(model), texts), 4)
    if options.json:
        json.dump({"fill_mask_accuracy": result}, sys.stdout)
        sys.stdout.write("\n")
    else:
        for model, scores in result.items():
            print(model, scores)


if __name__ == "__main__":
    main()
