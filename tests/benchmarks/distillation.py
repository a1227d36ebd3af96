"""Rate of distillation updates compared with a plain training loop around ``transformers``.

Run: python tests/benchmarks/distillation.py --json

A 12-layer teacher of width 384 (random weights) and a student of size "tiny", in batches of 2,048
tokens without padding; both sides alternate on one thread, and seconds are of CPU time. With
``--threads 2`` each has two threads and seconds are wall-clock time, on an otherwise idle machine.
Our side is the objective of ``zh-albert distil``: states of every student layer, masked LM and
sentence order. The plain loop has the same losses, or only that of the states: teacher in bf16
without gradients, student under autocast, mean squared errors, fused AdamW, and the faster of its
attention implementations.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = os.environ["RAYON_NUM_THREADS"] = "1"

import torch
from torch import Tensor, nn

from corpora_tools.build import build_shards
from corpora_tools.build_parts import BuildConfig
from zh_albert.cli.memory import keep_freed_memory
from zh_albert.distillation.match_terms import MatchTerm
from zh_albert.distillation.matching import Matching
from zh_albert.distillation.student import CalibrationBatch
from zh_albert.distillation.teacher import fastest_teacher
from zh_albert.model.config import PRESETS, AlbertConfig
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.layer_map import layer_map
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.pretraining.dataset import PretrainingSource
from zh_albert.pretraining.distil import WholeTexts
from zh_albert.pretraining.instances import InstanceConfig
from zh_albert.pretraining.objective import pretraining_loss
from zh_albert.pretraining.shards import open_shards
from zh_albert.tokenization.token_sets import TokenSets
from zh_albert.tokenization.tokenizer import default_tokenizer

sys.path.insert(0, str(Path(__file__).parent))
from instances import write_text
from pretraining import peer_inputs

TEACHER = AlbertConfig(
    vocab_size=8_960,
    embedding_size=384,
    hidden_size=384,
    num_hidden_layers=12,
    num_attention_heads=12,
    intermediate_size=1_536,
    hidden_act="gelu",
    sharing="none",
)
STUDENT = replace(PRESETS["tiny"], vocab_size=8_960, hidden_act="gelu")
PAIRS = layer_map(STUDENT.num_hidden_layers, TEACHER.num_hidden_layers)
PEERS = ("same_losses", "states_only")
Inputs = dict[str, Tensor]


def optimizer_of(module: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.AdamW(module.parameters(), lr=1e-4, fused=True)


def finish(loss: Tensor, module: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    loss.backward()
    assert loss.item() < 1e9  # and is a number
    torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()


def ours() -> Callable[[Inputs], None]:
    student = AlbertForPretraining(STUDENT)
    encoder = AlbertEncoder(TEACHER).eval()
    sample = CalibrationBatch(encoder, torch.randint(5, TEACHER.vocab_size, (16, 128)))
    matching = Matching(
        [MatchTerm(what="states")],
        student,
        fastest_teacher(encoder, [layer for _, layer in PAIRS], sample, {"states"}),
        teacher_layers=TEACHER.num_hidden_layers,
        teacher_width=TEACHER.hidden_size,
    )
    module = matching.around(WholeTexts(student))
    objective, optimizer = matching.objective(pretraining_loss), optimizer_of(module)

    def update(inputs: Inputs) -> None:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            outcome = objective(module, inputs)
        finish(outcome.loss / len(inputs["labels"]), module, optimizer)

    return update


def plain_loop(attention: str, *, heads: bool) -> Callable[[Inputs], None]:
    import transformers

    names = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads")
    shared = (*names, "intermediate_size", "hidden_act", "max_position_embeddings")
    teacher = transformers.BertModel(
        transformers.BertConfig(**{name: getattr(TEACHER, name) for name in shared}),
        add_pooling_layer=False,
    )
    sizes = {name: getattr(STUDENT, name) for name in (*shared, "embedding_size")}
    kind = transformers.AlbertForPreTraining if heads else transformers.AlbertModel
    student = kind(
        transformers.AlbertConfig(**sizes, attention_probs_dropout_prob=0, hidden_dropout_prob=0)
    )
    for model in (teacher, student):
        model.set_attn_implementation(attention)
    teacher = teacher.eval().bfloat16()
    projections = nn.ModuleList(nn.Linear(STUDENT.hidden_size, TEACHER.hidden_size) for _ in PAIRS)
    module = nn.ModuleList([student, projections])
    optimizer = optimizer_of(module)

    def update(inputs: Inputs) -> None:
        read = peer_inputs(inputs)
        if not heads:
            read = {name: read[name] for name in ("input_ids", "attention_mask", "token_type_ids")}
        with torch.no_grad():
            wanted = teacher(
                read["input_ids"], read["attention_mask"], output_hidden_states=True
            ).hidden_states
        with torch.autocast("cpu", dtype=torch.bfloat16):
            output = student(**read, output_hidden_states=True)
            found = output.hidden_states
            losses = [
                nn.functional.mse_loss(projection(found[layer]).float(), wanted[of].float())
                for (layer, of), projection in zip(PAIRS, projections, strict=True)
            ]
        loss = torch.stack(losses).sum()
        finish(loss + output.loss if heads else loss, module, optimizer)

    return update


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="three updates each, no warm-up")
    options = parser.parse_args()
    # Memory is touched for the first time in the first updates, which is a fifth of their time.
    warm_up, rounds = (0, 3) if options.quick else (10, 15)
    torch.set_num_threads(options.threads)
    clock = time.process_time if options.threads == 1 else time.perf_counter
    keep_freed_memory()
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.jsonl"
        kind, _ = write_text(text, 300_000)
        build_shards([text], Path(folder) / "shards", BuildConfig())
        shards = open_shards(Path(folder) / "shards")
        sets = TokenSets.of(default_tokenizer())
        source = PretrainingSource(shards, sets, InstanceConfig(), batch_tokens=2_048)
        batches = [source.load(item) for item in source.plan(0)[: warm_up + rounds]]
    contestants = {
        "ours": ours(),
        **{
            f"plain_loop_{name}_{attention}": plain_loop(attention, heads=name == "same_losses")
            for name in PEERS
            for attention in ("sdpa", "eager")
        },
    }
    rates: dict[str, list[float]] = {name: [] for name in contestants}
    for batch in batches:
        for name, update in contestants.items():
            began = clock()
            update(batch.inputs)
            rates[name].append(batch.tokens / (clock() - began))
    medians = {name: statistics.median(found[warm_up:]) for name, found in rates.items()}
    best = {
        name: max(medians[f"plain_loop_{name}_{attention}"] for attention in ("sdpa", "eager"))
        for name in PEERS
    }
    result: dict[str, Any] = {
        "text": kind,
        "tokens_per_second": {name: round(rate) for name, rate in medians.items()},
        "ratios": {
            f"distil_tiny_vs_plain_loop_{name}": round(medians["ours"] / rate, 2)
            for name, rate in best.items()
        },
        "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    print(json.dumps(result) if options.json else "\n".join(f"{k}: {v}" for k, v in result.items()))


if __name__ == "__main__":
    main()
