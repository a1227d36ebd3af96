"""Audit of built shards: instances are drawn as in training, and measured.

All values are measured on the finished arrays and the shards, independently of the code that made
them; only the target length of an instance and the n-gram of a word come from that code.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora_tools.audit_measures import Sums, epoch_measures, measure, summary
from zh_albert.pretraining.batches import DrawnBatch, draw_batch
from zh_albert.pretraining.counter_rng import draw
from zh_albert.pretraining.instances import (
    PAIR_SPECIALS,
    Epoch,
    InstanceConfig,
    cut_sentences,
    plan_epoch,
)
from zh_albert.pretraining.shards import Shards, open_shards, read_manifest
from zh_albert.tokenization.token_sets import TokenSets
from zh_albert.tokenization.tokenizer import Tokenizer, load_tokenizer

_BATCH = 256  # instances drawn at once
_SAMPLE = 301  # stream of ``counter_rng.draw``


def audit_shards(
    folder: Path,
    config: InstanceConfig,
    *,
    instances: int = 20_000,
    epoch: int = 0,
    examples: int = 5,
) -> dict[str, Any]:
    """Check a folder's checksums, draw instances of an epoch and measure them.

    Args:
        folder: Written by ``zh-corpora build``.
        config: Of the training run that the shards are for.
        instances: Number of instances drawn at random; all if there are fewer.
        epoch: Epoch of the instances.
        examples: Number of instances to print.

    Returns:
        JSON-ready values; ``passed`` is true if all ``checks`` are.

    Raises:
        DataError: If the shards are missing, damaged, or their tokenizer was changed.
    """
    read_manifest(folder)  # any other folder fails here, with a message about shards
    tokenizer = load_tokenizer(folder)
    shards = open_shards(folder, tokenizer=tokenizer)
    sets = TokenSets.of(tokenizer)
    whole = plan_epoch(cut_sentences(shards, config.length - PAIR_SPECIALS), config, epoch)
    sums = Sums()
    shown: list[dict[str, Any]] = []
    for drawn, numbers in _draw(shards, whole, sets, config, instances):
        measure(sums, drawn, sets, config)
        shown += _examples(drawn, whole, numbers, tokenizer, examples - len(shown))
    result = {
        "shards": str(folder),
        "digest": shards.digest,
        "corpus": vars(shards.counts)
        | {"unknown_rate": shards.counts.unknown / max(shards.counts.tokens, 1)},
        "settings": {
            "length": config.length,
            "short_rate": config.short_rate,
            "rate": config.masking.rate,
            "max_ngram": config.masking.max_ngram,
            "seed": config.seed,
            "epoch": epoch,
        },
        **summary(sums, config),
        "epoch": epoch_measures(shards, whole, config, epoch),
        "examples": shown,
    }
    result["checks"] = _checks(result, config)
    result["passed"] = all(check["ok"] for check in result["checks"])
    return result


def _draw(
    shards: Shards, whole: Epoch, sets: TokenSets, config: InstanceConfig, instances: int
) -> Iterator[tuple[DrawnBatch, NDArray[np.int64]]]:
    """Draw instances uniformly from the epoch."""
    mixed = np.argsort(draw(whole.keys, _SAMPLE))[:instances]
    for first in range(0, len(mixed), _BATCH):
        numbers = mixed[first : first + _BATCH]
        yield draw_batch(shards, whole, numbers, sets, config.masking), numbers


def _checks(result: dict[str, Any], config: InstanceConfig) -> list[dict[str, Any]]:
    """Compare the measures with the settings; fractions within four standard errors."""
    masking, words = config.masking, max(result["words_masked"], 1)
    pairs = max(result["order"]["pairs"] * result["instances"], 1)

    def near(found: float, wanted: float, number: float) -> bool:
        error = math.sqrt(max(wanted * (1 - wanted), 1e-9) / number)
        return bool(abs(found - wanted) <= 4 * error + 1e-9)

    replacement, faults, epoch = result["replacement"], result["faults"], result["epoch"]
    mask_rate = result["mask"]["rate"]
    rows: list[tuple[str, Any, Any, bool]] = [
        ("mask rate", masking.rate, mask_rate, abs(mask_rate - masking.rate) < 0.1 * masking.rate),
        ("instances at the budget", 0.95, result["mask"]["budget_met_exactly"],
         result["mask"]["budget_met_exactly"] >= 0.95),
        ("whole words", 1.0, result["whole_word_rate"], result["whole_word_rate"] == 1.0),
        ("words as [MASK]", masking.mask_share, replacement["mask"],
         near(replacement["mask"], masking.mask_share, words)),
        ("words as random tokens", masking.random_share, replacement["random"],
         near(replacement["random"], masking.random_share, words)),
        ("words half replaced", 0, replacement["mixed"], replacement["mixed"] == 0),
        ("words in the longest n-gram", masking.max_ngram, len(result["ngrams"]["masked"]),
         len(result["ngrams"]["masked"]) <= masking.max_ngram),
        ("swapped pairs", config.swap_rate, result["order"]["swapped"],
         near(result["order"]["swapped"], config.swap_rate, pairs)),
        ("aimed at a shorter length", config.short_rate, epoch["aimed_short"],
         near(epoch["aimed_short"], config.short_rate, epoch["instances"])),
        ("padding", epoch["padding_allowed"], epoch["padding"],
         epoch["padding"] < epoch["padding_allowed"]),
        *((name.replace("_", " "), 0, found, found == 0) for name, found in faults.items()),
        ("instances across documents", 0, epoch["across_documents"], not epoch["across_documents"]),
        ("tokens used twice", 0, epoch["tokens_used_twice"], not epoch["tokens_used_twice"]),
    ]  # fmt: skip
    return [
        {"name": name, "expected": expected, "found": found, "ok": bool(ok)}
        for name, expected, found, ok in rows
    ]


def _examples(
    drawn: DrawnBatch,
    whole: Epoch,
    numbers: NDArray[np.int64],
    tokenizer: Tokenizer,
    limit: int,
) -> list[dict[str, Any]]:
    """Return a batch's first instances as tokens with the labels of the masked ones."""
    batch, shown = drawn.batch, []
    for row, number in enumerate(numbers[: max(limit, 0)].tolist()):
        mine = batch.positions[:, 0] == row
        labels = tokenizer.tokens(batch.labels[mine].tolist())
        wanted = dict(zip(batch.positions[mine, 1].tolist(), labels, strict=True))
        read = tokenizer.tokens(batch.token_ids[row, batch.mask[row]].tolist())
        shown.append(
            {
                "instance": number,
                "order": {0: "in order", 1: "swapped", -1: "one text"}[int(batch.order[row])],
                "aimed_short": bool(whole.short[number]),
                "tokens": [
                    {"read": token, "label": wanted[place]} if place in wanted else {"read": token}
                    for place, token in enumerate(read)
                ],
            }
        )
    return shown
