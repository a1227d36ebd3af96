"""Rate of pretraining updates (masked words, sentence order) compared with ``transformers``.

Run: python tests/benchmarks/pretraining.py --json

Text: the corpus if available (ZH_ALBERT_DATA), else random tokens of the vocabulary. Both sides
train models of one size on the same batches of 2,048 tokens; they alternate, each in a process of
its own on one thread; seconds are of CPU time. Our side is the training loop as the command line
runs it, from shards, including the drawing and masking of batches. The other side is
``AlbertForPreTraining`` with its own loss on prepared batches, with the faster of its attention
implementations. Our precision is that of ``precision = "auto"`` on this CPU.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

os.environ["OMP_NUM_THREADS"] = os.environ["RAYON_NUM_THREADS"] = "1"

import torch
from torch import Tensor

from corpora_tools.build import build_shards
from corpora_tools.build_parts import BuildConfig
from zh_albert.cli.memory import keep_freed_memory
from zh_albert.model.config import AlbertConfig
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.pretraining.dataset import BatchNumber, PretrainingSource
from zh_albert.pretraining.instances import InstanceConfig
from zh_albert.pretraining.objective import pretraining_loss
from zh_albert.pretraining.run import EncoderConfig
from zh_albert.pretraining.shards import open_shards
from zh_albert.tokenization.token_sets import TokenSets
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.training.config import TrainConfig
from zh_albert.training.loop import Batch, train
from zh_albert.training.precision import computes_faster_in_bf16

sys.path.insert(0, str(Path(__file__).parent))
from instances import write_text
from machine import cpu_class, limits

BATCH_TOKENS = 2_048
PEAK_LR = 1e-4
ATTENTIONS = ("sdpa", "eager")
PEER_SIZES = (  # named alike on both sides
    *("vocab_size", "embedding_size", "hidden_size", "num_hidden_layers", "num_attention_heads"),
    *("intermediate_size", "hidden_act", "max_position_embeddings", "type_vocab_size"),
    *("layer_norm_eps", "hidden_dropout_prob", "attention_probs_dropout_prob"),
)


class Setting(NamedTuple):
    """A size, a length, and the precisions of the peer."""

    preset: str
    length: int
    precisions: tuple[str, ...] = ("fp32",)

    @property
    def name(self) -> str:
        return f"{self.preset}_{self.length}"


SETTINGS = (Setting("tiny", 128, ("fp32", "bf16")), Setting("small", 128), Setting("tiny", 512))
Batches = Sequence[tuple[BatchNumber, Batch]]
Contestant = Callable[[Batches], float]  # makes an update from each; CPU seconds


class Side:
    """A process that trains when it is told to.

    Args:
        shards: Folder of the text.
        updates: Made at a time.
    """

    def __init__(self, shards: Path, updates: int) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._connection, other = spawn.Pipe()
        spawn.Process(target=serve, args=(other, shards, updates), daemon=True).start()

    def rate(self, *what: Any) -> float:
        """Return tokens (without padding) per second of CPU time; see ``serve``."""
        self._connection.send(what)
        return float(self._connection.recv())

    def end(self) -> None:
        self._connection.send(None)


def serve(connection: Connection, shards: Path, updates: int) -> None:
    """Answer (setting, precision, attention, round) with the rate of that round's updates."""
    torch.set_num_threads(1)
    tokenizer = default_tokenizer()

    @cache
    def source_of(setting: Setting) -> PretrainingSource:
        sets, instances = TokenSets.of(tokenizer), InstanceConfig(length=setting.length)
        return PretrainingSource(open_shards(shards), sets, instances, batch_tokens=BATCH_TOKENS)

    @cache
    def contestant(setting: Setting, precision: str, attention: str) -> Contestant:
        sizes = EncoderConfig(preset=setting.preset).sizes(tokenizer.vocab_size)
        if attention == "ours":
            return ours(sizes, source_of(setting))
        return theirs(sizes, precision, attention)

    for setting, precision, attention, number in iter(connection.recv, None):
        batches = full_batches(source_of(setting), number * updates, (number + 1) * updates)
        seconds = contestant(setting, precision, attention)(batches)
        connection.send(sum(batch.tokens for _, batch in batches) / seconds)


def full_batches(source: PretrainingSource, start: int, end: int) -> Batches:
    """Return batches of the full length; each has a pair, which the peer's loss requires."""
    found: list[tuple[BatchNumber, Batch]] = []
    for epoch in range(1_000):
        for item in source.plan(epoch):
            batch = source.load(item)
            full = batch.inputs["mask"].shape[1] == source.config.length
            if full and (batch.inputs["order"] >= 0).any():
                found.append((item, batch))
                if len(found) == end:
                    return found[start:]
    raise SystemExit("the text gives too few full batches")


def race(setting: Setting, we: Side, they: Side, *, rounds: int) -> dict[str, float]:
    """Train alternately; return median rates. The first round is a warm-up.

    An attention implementation that is clearly slower is dropped.
    """
    rates: dict[str, list[float]] = defaultdict(list)
    left = {precision: list(ATTENTIONS) for precision in setting.precisions}
    we.rate(setting, "auto", "ours", 0)
    for number in range(1 + rounds):
        rates["ours"].append(we.rate(setting, "auto", "ours", number))
        for precision, attentions in left.items():
            found = {name: they.rate(setting, precision, name, number) for name in attentions}
            for name, rate in found.items():
                rates[f"transformers_{precision}_{name}"].append(rate)
            left[precision] = [n for n in attentions if found[n] > 0.85 * max(found.values())]
    return {name: statistics.median(one[1:] or one) for name, one in rates.items()}


class SomeBatches(NamedTuple):
    """Some batches of a source, as an epoch of their own."""

    source: PretrainingSource
    items: Sequence[BatchNumber]

    def plan(self, epoch: int) -> Sequence[BatchNumber]:
        return self.items

    def load(self, item: BatchNumber) -> Batch:
        return self.source.load(item)


def ours(sizes: AlbertConfig, source: PretrainingSource) -> Contestant:
    """Our training loop as it is by default."""
    keep_freed_memory()  # as the command line does
    model = AlbertForPretraining(sizes)
    config = TrainConfig(epochs=1, batch_tokens=BATCH_TOKENS, peak_lr=PEAK_LR, warmup=0)

    def updates(batches: Batches) -> float:
        chosen = SomeBatches(source, [item for item, _ in batches])  # read again
        began = time.process_time()
        train(model, pretraining_loss, chosen, config)
        return time.process_time() - began

    return updates


def theirs(sizes: AlbertConfig, precision: str, attention: str) -> Contestant:
    """The usual loop around ``transformers``: fused AdamW, clipping, bf16 by autocast."""
    import transformers

    config = transformers.AlbertConfig(**{name: getattr(sizes, name) for name in PEER_SIZES})
    model = transformers.AlbertForPreTraining(config).train()
    model.set_attn_implementation(attention)
    optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK_LR, fused=True)

    def updates(batches: Batches) -> float:
        ready = [peer_inputs(batch.inputs) for _, batch in batches]
        began = time.process_time()
        for inputs in ready:
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16"):
                loss = model(**inputs).loss
            loss.backward()
            assert loss.item() < 20  # and is a number
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        return time.process_time() - began

    return updates


def peer_inputs(inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return a batch in the form of ``transformers``: -100 where nothing is to be predicted."""
    labels = torch.full_like(inputs["token_ids"], -100)
    labels[inputs["positions"][:, 0], inputs["positions"][:, 1]] = inputs["labels"]
    return {
        "input_ids": inputs["token_ids"],
        "attention_mask": inputs["mask"].long(),
        "token_type_ids": inputs["type_ids"],
        "labels": labels,
        "sentence_order_label": inputs["order"].where(inputs["order"] >= 0, -100),
    }


def multiplications(setting: Setting) -> float:
    """Return those of a token in a training step: three times those of a forward pass."""
    sizes = EncoderConfig(preset=setting.preset).sizes(default_tokenizer().vocab_size)
    hidden, masked = sizes.hidden_size, InstanceConfig().masking.rate
    layer = 4 * hidden**2 + 2 * hidden * sizes.intermediate_size + 2 * setting.length * hidden
    head = hidden * sizes.embedding_size + sizes.embedding_size * sizes.vocab_size
    return 3 * (sizes.embedding_size * hidden + sizes.num_hidden_layers * layer + masked * head)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="few updates")
    options = parser.parse_args()
    rounds, updates = (2, 1) if options.quick else (9, 4)

    precision, machine = "bf16" if computes_faster_in_bf16() else "fp32", limits()
    result: dict[str, Any] = {
        "tokens_per_second": {},
        "ratios": {},
        "cpu": cpu_class(),
        "precision": precision,
        "limits_gmac_per_second": machine,
        "shares_of_limit": {},
    }
    with tempfile.TemporaryDirectory() as folder:
        text, shards = Path(folder) / "text.jsonl", Path(folder) / "shards"
        result["text"], _ = write_text(text, 600_000)
        build_shards([text], shards, BuildConfig())
        sides = Side(shards, updates), Side(shards, updates)
        for setting in SETTINGS:
            rates = race(setting, *sides, rounds=rounds)
            result["tokens_per_second"][setting.name] = {k: round(v) for k, v in rates.items()}
            share = rates["ours"] * multiplications(setting) / 1e9 / machine[precision]
            result["shares_of_limit"][setting.name] = round(share, 2)
            for theirs_in in setting.precisions:
                best = max(rate for name, rate in rates.items() if theirs_in in name)
                name = f"{setting.name}_vs_transformers_{theirs_in}"
                result["ratios"][name] = round(rates["ours"] / best, 2)
        for side in sides:
            side.end()
    print(json.dumps(result) if options.json else "\n".join(f"{k}: {v}" for k, v in result.items()))


if __name__ == "__main__":
    main()
