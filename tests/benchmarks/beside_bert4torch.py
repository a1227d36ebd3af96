"""Training and inference compared with bert4torch: same encoder, texts, epochs and machine.

Run: python tests/benchmarks/beside_bert4torch.py ENCODER --json

ENCODER is a folder in the layout of ``transformers`` whose layers share all parameters (bert4torch
does not support several groups in ALBERT). Both are trained on the first 6,000 training headlines
of TNEWS that are not in the dev file, for three epochs; bert4torch as in its own classification
examples: batches of 32 padded to the longest text, the pooled first token, Adam without decay,
``fit``; with the learning rate of those examples and with higher ones, which small encoders need.
Then both answer texts of lognormal lengths (see ``inference.py``), bert4torch as trained, in
batches of 1 and 32. The sides alternate; each has one process and one thread; CPU time, seed 1.

Needs the task datasets (ZH_ALBERT_DATA) and, without its dependencies for other models, ``pip
install --no-deps bert4torch==0.6.2 torch4keras==0.3.4 torchvision six``.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

os.environ |= {"OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}

import torch

from zh_albert import AlbertClassifier, load
from zh_albert.inference.export import export
from zh_albert.tasks.catalog import TASKS
from zh_albert.tasks.texts import without

sys.path.insert(0, str(Path(__file__).parent))
from sample_texts import sample_texts

TEXTS = 6000
EPOCHS = 3
MAX_LENGTH = 64
THEIR_RATES = (2e-5, 1e-4, 3e-4)  # the first is that of their examples
ROUNDS = 5
Labelled = tuple[list[str], list[str]]
Answer = Callable[[list[str]], Sequence[Any]]


def headlines(data: Path) -> tuple[Labelled, Labelled]:
    """Return texts and labels for training, and those for scoring."""
    read = TASKS["classification"].read
    train, dev = (read(next(data.glob(f"tnews/{split}.jsonl*"))) for split in ("train", "dev"))
    chosen = without(train, dev)[:TEXTS]
    learned, scored = (
        ([row.text for row in rows], [str(row.label) for row in rows]) for rows in (chosen, dev)
    )
    return learned, scored


def theirs(folder: Path, learned: Labelled, rate: float) -> Callable[[int], Answer]:
    """Train a classifier as in bert4torch's examples; return a function that answers in batches."""
    from bert4torch.models import BaseModel, build_transformer_model
    from bert4torch.snippets import sequence_padding
    from bert4torch.tokenizers import Tokenizer
    from torch import nn
    from torch.utils.data import DataLoader

    tokenizer = Tokenizer(str(folder / "vocab.txt"), do_lower_case=True)
    texts, names = learned
    numbers = {name: number for number, name in enumerate(sorted(set(names)))}

    def encoded(texts: Sequence[str], limit: int) -> list[torch.Tensor]:
        ids, segments = zip(*(tokenizer.encode(text, maxlen=limit) for text in texts), strict=True)
        return [torch.tensor(sequence_padding(part)) for part in (ids, segments)]

    def collate(batch: list[tuple[str, str]]) -> tuple[list[torch.Tensor], torch.Tensor]:
        targets = torch.tensor([numbers[name] for _, name in batch])
        return encoded([text for text, _ in batch], MAX_LENGTH), targets

    class Classifier(BaseModel):
        def __init__(self) -> None:
            super().__init__()
            self.bert = build_transformer_model(
                config_path=str(folder / "bert4torch_config.json"),
                checkpoint_path=str(folder / "model.safetensors"),
                model="albert",
                with_pool=True,
                verbose=0,
            )
            self.dropout = nn.Dropout(0.1)
            self.dense = nn.Linear(self.bert.config["hidden_size"], len(numbers))

        def forward(self, token_ids: torch.Tensor, segment_ids: torch.Tensor) -> torch.Tensor:
            _, pooled = self.bert([token_ids, segment_ids])
            logits: torch.Tensor = self.dense(self.dropout(pooled))
            return logits

    torch.manual_seed(1)
    model = Classifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    model.compile(loss=nn.CrossEntropyLoss(), optimizer=optimizer)
    rows = list(zip(texts, names, strict=True))
    batches = DataLoader(rows, batch_size=32, shuffle=True, collate_fn=collate)
    model.fit(batches, epochs=EPOCHS, steps_per_epoch=None, verbose=0)
    classes = sorted(numbers, key=numbers.__getitem__)

    def answering(size: int) -> Answer:
        def answer(texts: list[str]) -> list[str]:
            found: list[str] = []
            for start in range(0, len(texts), size):
                logits = model.predict(encoded(texts[start : start + size], 512))
                found += (classes[number] for number in logits.argmax(-1).tolist())
            return found

        return answer

    return answering


def ours(folder: Path, learned: Labelled) -> AlbertClassifier:
    """Train a classifier of ours with default settings."""
    return AlbertClassifier(init=str(folder), epochs=EPOCHS, max_length=MAX_LENGTH).fit(*learned)


def exported(model: AlbertClassifier, folder: Path) -> Answer:
    """Return a function that answers by the int8 export of a model, as ``load`` opens it."""
    model.save(folder / "model")
    export(folder / "model", folder / "int8", form="zh_albert", precision="int8")
    opened: Any = load(folder / "int8")
    return lambda texts: [answer.label for answer in opened.stream(texts)]


def accuracy(answer: Answer, scored: Labelled) -> float:
    texts, names = scored
    right = (found == name for found, name in zip(answer(texts), names, strict=True))
    return round(statistics.fmean(right), 4)


def serve(connection: Connection, side: str, folder: Path, data: Path) -> None:
    """Train one side, send its cost and dev scores, then answer texts on request."""
    torch.set_num_threads(1)
    learned, scored = headlines(data)
    name, _, rate = side.partition("@")
    began = time.process_time()
    if name == "bert4torch":
        answering = theirs(folder, learned, float(rate))
        result = {"train_cpu_s": round(time.process_time() - began)}
        ways = {f"batches of {size}": answering(size) for size in (1, 32)}
        result["dev_accuracy"] = accuracy(ways["batches of 32"], scored)
    else:
        with tempfile.TemporaryDirectory() as run:
            model = ours(folder, learned)
            result = {"train_cpu_s": round(time.process_time() - began)}
            ways = {"int8": exported(model, Path(run))}
            classifier = model.classifier_
            result["dev_accuracy"] = accuracy(ways["int8"], scored)
            _, network, _ = classifier.member_scores(classifier.encode(scored[0]))
            alone = [classifier.labels[best] for best in network.argmax(1)]
            result["dev_accuracy_network_alone"] = accuracy(lambda _: alone, scored)
    connection.send(result)
    for texts in iter(connection.recv, None):
        took = {}
        for way, answer in ways.items():
            part = texts[: len(texts) // (1 if name == "zh-albert" else 4)]
            answer(part[:50])  # warms up
            began = time.process_time()
            answer(part)
            took[way] = sum(map(len, part)) / (time.process_time() - began)
        connection.send(took)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("encoder", type=Path, help="a folder whose layers share all parameters")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    data = Path(os.environ.get("ZH_ALBERT_DATA", "../shared/data")) / "tasks"
    if not data.is_dir():
        raise SystemExit(f"error: {data}: no such folder; set ZH_ALBERT_DATA to what holds tasks/")
    results: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(shutil.copytree(options.encoder, Path(name) / "encoder"))
        # bert4torch looks for a name of its own
        shutil.copy(folder / "config.json", folder / "bert4torch_config.json")
        connections = {}
        for side in ("zh-albert", *(f"bert4torch@{rate:g}" for rate in THEIR_RATES)):
            spawn = multiprocessing.get_context("spawn")
            connections[side], other = spawn.Pipe()
            work = (other, side, folder, data)
            spawn.Process(target=serve, args=work, daemon=True).start()
            results[side] = connections[side].recv()
            print(f"{side}: {results[side]}", file=sys.stderr, flush=True)
        rates: dict[str, list[float]] = defaultdict(list)
        racing = ("zh-albert", f"bert4torch@{THEIR_RATES[0]:g}")  # their rates do not change speed
        for number in range(ROUNDS):
            texts = sample_texts(1600, seed=number)
            for side in racing:
                connections[side].send(texts)
                for way, rate in connections[side].recv().items():
                    rates[f"{side.partition('@')[0]}, {way}"].append(rate)
    characters = statistics.fmean(map(len, sample_texts(10000)))
    speed = {way: round(statistics.median(found) / characters) for way, found in rates.items()}
    if options.json:
        print(json.dumps({"learning": results, "texts_per_second": speed}))
    else:
        print("texts a second:", speed)


if __name__ == "__main__":
    main()
