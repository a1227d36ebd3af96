"""Tagger from few sentences: the four heads, scored on what they learned and on dev.

Run: python tests/benchmarks/few_sentences.py DATA/tasks --json [--sentences 60 --updates 240]

The first sentences of CLUENER's train file are learned; the scores are strict micro F1.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from zh_albert.checkpoints.resolve import resolve_model
from zh_albert.tasks.ner.examples import EntityExample, read_entity_examples
from zh_albert.tasks.ner.finetune import FinetuneConfig, ModelConfig, evaluate, finetune
from zh_albert.tasks.ner.networks import HEADS, Head
from zh_albert.training.config import TrainConfig


def measure(
    head: Head, train: Sequence[EntityExample], dev: Sequence[EntityExample], updates: int
) -> dict[str, float]:
    """Return the F1 of a head on its training sentences and on dev, and the training time."""
    epochs = 1 + updates * 1024 // sum(len(example.text) for example in train)
    config = FinetuneConfig(
        model=ModelConfig(head=head),
        train=TrainConfig(epochs=epochs, max_updates=updates, peak_lr=2e-4, batch_tokens=1024),
    )
    began = time.process_time()
    tagger, state = finetune(train, [], config, init=resolve_model("encoder"))
    seconds = time.process_time() - began
    return {
        "updates": state.update,
        "train": round(evaluate(tagger, train)["f1"], 4),
        "dev": round(evaluate(tagger, dev)["f1"], 4),
        "train_cpu_s": round(seconds, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with the datasets")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--sentences", type=int, default=60)
    parser.add_argument("--updates", type=int, default=240)
    parser.add_argument("--heads", nargs="+", choices=HEADS, default=HEADS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    train, dev = (
        read_entity_examples(next((options.data / "cluener").glob(f"{name}.jsonl*")))
        for name in ("train", "dev")
    )
    result = {}
    for head in options.heads:
        result[head] = measure(head, train[: options.sentences], dev, options.updates)
        if not options.json:
            print(head, result[head], flush=True)
    if options.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
