"""Proof of what built shards give a model: instances drawn as training draws them, and measured.

Everything is read off the finished arrays and the shards, not off the code that made them; only
how long an instance aimed to be and which n-gram a word was in are told by the drawing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zh_albert.pretraining.batches import DrawnBatch, TokenSets, draw_batch
from zh_albert.pretraining.draws import draw
from zh_albert.pretraining.instances import (
    PAIR_SPECIALS,
    Epoch,
    InstanceConfig,
    cut_sentences,
    plan_batches,
    plan_epoch,
)
from zh_albert.pretraining.masking import KEPT_OUT
from zh_albert.pretraining.shards import Shards, open_shards
from zh_albert.tokenization.tokenizer import Tokenizer, load_tokenizer

_BATCH_TOKENS = 16_384  # for padding, which depends on it little
_TOGETHER = 256  # instances drawn at once
_SAMPLE = 301  # stream of ``draws.draw``


@dataclass
class _Sums:
    """What is added up over batches, by name."""

    totals: dict[str, float]
    histograms: dict[str, NDArray[np.int64]]

    def add(self, **values: Any) -> None:
        for name, value in values.items():
            self.totals[name] = self.totals.get(name, 0) + float(value)

    def count(self, name: str, values: NDArray[Any]) -> None:
        """Add values of 0 and more to a histogram."""
        known = self.histograms.get(name, np.zeros(0, np.int64))
        new = np.bincount(values.astype(np.int64), minlength=len(known))
        new[: len(known)] += known
        self.histograms[name] = new


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
        instances: How many are drawn, at random; all if there are fewer.
        epoch: Of which epoch.
        examples: How many to print.

    Returns:
        JSON-ready; ``passed`` says whether every one of ``checks`` holds.

    Raises:
        DataError: If the shards are missing, damaged, or their tokenizer was changed.
    """
    tokenizer = load_tokenizer(folder)
    shards = open_shards(folder, tokenizer=tokenizer)
    sets = TokenSets.of(tokenizer)
    whole = plan_epoch(cut_sentences(shards, config.length - PAIR_SPECIALS), config, epoch)
    sums = _Sums({}, {})
    shown: list[dict[str, Any]] = []
    for drawn, numbers in _draw(shards, whole, sets, config, instances):
        _measure(sums, drawn, sets, config)
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
        **_summary(sums, config),
        "epoch": _epoch_facts(shards, whole, config, epoch),
        "examples": shown,
    }
    result["checks"] = _checks(result, config)
    result["passed"] = all(check["ok"] for check in result["checks"])
    return result


def _draw(
    shards: Shards, whole: Epoch, sets: TokenSets, config: InstanceConfig, instances: int
) -> Iterator[tuple[DrawnBatch, NDArray[np.int64]]]:
    """Draw instances evenly from the epoch, each as likely as any other."""
    mixed = np.argsort(draw(whole.keys, _SAMPLE))[:instances]
    for first in range(0, len(mixed), _TOGETHER):
        numbers = mixed[first : first + _TOGETHER]
        yield draw_batch(shards, whole, numbers, sets, config.masking), numbers


def _measure(sums: _Sums, drawn: DrawnBatch, sets: TokenSets, config: InstanceConfig) -> None:
    batch, words, choice = drawn.batch, drawn.words, drawn.choice
    rows, columns = batch.positions[:, 0], batch.positions[:, 1]
    is_target = np.zeros(batch.mask.shape, np.bool_)
    is_target[rows, columns] = True
    labels = np.full(batch.mask.shape, -1, np.int64)
    labels[rows, columns] = batch.labels
    read = batch.token_ids
    plain = np.zeros(int(sets.plain.max()) + 2 + max(sets.special), np.bool_)
    plain[sets.plain] = True

    content = np.bincount(words.rows, weights=words.lengths).astype(np.int64)
    masked = is_target.sum(1)
    budget = np.rint(config.masking.rate * content).astype(np.int64)
    sums.add(
        instances=len(batch.order),
        content=content.sum(),
        tokens=batch.mask.sum(),
        masked=len(rows),
        exact=(masked == budget).sum(),
        over=(masked > budget).sum(),
        missing=np.maximum(budget - masked, 0).sum(),
        pairs=(batch.order >= 0).sum(),
        swapped=(batch.order == 1).sum(),
        special_masked=(~batch.mask[rows, columns]).sum()
        + np.isin(batch.labels, list(sets.special)).sum(),
        label_not_plain=(~plain[batch.labels]).sum(),
    )
    # Each word's tokens stand side by side, so sums over them say what became of it.
    places = np.repeat(words.rows * read.shape[1] + drawn.word_columns, words.lengths)
    first = np.cumsum(words.lengths) - words.lengths
    places += np.arange(len(places)) - np.repeat(first, words.lengths)
    hidden = is_target.ravel()[places]
    as_mask = hidden & (read.ravel()[places] == sets.special.mask)
    as_is = hidden & (read.ravel()[places] == labels.ravel()[places])
    other = hidden & ~as_mask & ~as_is
    of_word = [np.add.reduceat(array, first) for array in (hidden, as_mask, as_is)]
    touched = of_word[0] > 0
    is_whole = of_word[0] == words.lengths
    part = touched & ~is_whole
    kinds = np.stack(of_word[1:])
    sums.add(
        words=touched.sum(),
        whole_words=(touched & is_whole).sum(),
        leaked=np.where(part, words.lengths - of_word[0], 0).sum(),
        word_as_mask=(touched & (kinds[0] == words.lengths)).sum(),
        word_as_is=(touched & (kinds[1] == words.lengths)).sum(),
        mixed=(touched & (kinds[0] > 0) & (kinds[0] < words.lengths)).sum(),
        replaced_not_plain=(~plain[read.ravel()[places][other]]).sum(),
        topped_up=choice.topped_up.sum(),
    )
    sums.count("masked_word_length", words.lengths[touched])
    sums.count("word_length", words.lengths)
    sums.count("length", batch.mask.sum(1) // config.length_step)
    grams = np.bincount(choice.ngram[words.allowed])
    sums.count("ngrams_cut", grams[grams > 0])
    taken = np.bincount(choice.ngram[(choice.action != KEPT_OUT) & ~choice.topped_up])
    sums.count("ngrams_masked", taken[taken > 0])
    sums.add(identical=_identical(batch.order, drawn, read, labels))


def _identical(
    order: NDArray[np.int64], drawn: DrawnBatch, read: NDArray[np.int64], labels: NDArray[np.int64]
) -> int:
    """Count pairs that have an order although their two texts are the same."""
    originals = np.where(labels >= 0, labels, read)
    found = 0
    for row in np.flatnonzero(order >= 0):
        size = int(drawn.batch.mask[row].sum())
        second = int(drawn.batch.type_ids[row].sum())
        if 2 * second == size - 1:  # [CLS] a [SEP] and b [SEP] of one length
            a, b = originals[row, 1 : size - second], originals[row, size - second : size]
            found += bool((a == b).all())
    return found


def _summary(sums: _Sums, config: InstanceConfig) -> dict[str, Any]:
    t = sums.totals
    words = max(t["words"], 1)
    ngrams = {name: _shares(sums.histograms[name][1:]) for name in ("ngrams_cut", "ngrams_masked")}
    harmonic = 1 / np.arange(1, config.masking.max_ngram + 1)
    return {
        "instances": int(t["instances"]),
        "tokens": int(t["tokens"]),
        "mask": {
            "rate": t["masked"] / max(t["content"], 1),
            "budget_met_exactly": t["exact"] / t["instances"],
            "over_budget": int(t["over"]),
            "tokens_missing": int(t["missing"]),
        },
        "whole_word_rate": t["whole_words"] / words,
        "replacement": {
            "mask": t["word_as_mask"] / words,
            "random": (t["words"] - t["word_as_mask"] - t["word_as_is"] - t["mixed"]) / words,
            "same": t["word_as_is"] / words,
            "mixed": t["mixed"] / words,
        },
        "ngrams": {
            "proportional_to_1_n": _shares(harmonic),
            "cut": ngrams["ngrams_cut"],
            "masked": ngrams["ngrams_masked"],
            "single_words_to_fill_the_budget": t["topped_up"] / words,
        },
        "words_masked": int(t["words"]),
        "masked_word_lengths": _shares(sums.histograms["masked_word_length"][1:]),
        "word_lengths": _shares(sums.histograms["word_length"][1:]),
        "order": {
            "pairs": t["pairs"] / t["instances"],
            "swapped": t["swapped"] / max(t["pairs"], 1),
        },
        "faults": {
            "special_tokens_masked": int(t["special_masked"]),
            "labels_not_plain": int(t["label_not_plain"]),
            "replacements_not_plain": int(t["replaced_not_plain"]),
            "leaked_neighbours": int(t["leaked"]),
            "identical_texts_with_an_order": int(t["identical"]),
        },
        "lengths": {
            "step": config.length_step,
            "counts": sums.histograms["length"].tolist(),
            "mean": t["tokens"] / t["instances"],
        },
    }


def _shares(counts: NDArray[Any]) -> list[float]:
    return [round(float(value), 5) for value in counts / max(counts.sum(), 1)]


def _epoch_facts(
    shards: Shards, whole: Epoch, config: InstanceConfig, epoch: int
) -> dict[str, Any]:
    """Measure all instances of the epoch: borders and batches, not contents."""
    plan = plan_batches(whole, config, epoch, batch_tokens=max(_BATCH_TOKENS, config.length))
    bounds = np.sort(plan.bounds, axis=0)
    longest = np.maximum.reduceat(whole.sizes[plan.order], bounds[:, 0])
    padded = -(-longest // config.length_step) * config.length_step
    documents = shards.documents()
    ends = whole.starts + whole.first + whole.second
    homes = np.searchsorted(documents, whole.starts, side="right") - 1
    return {
        "instances": len(whole.starts),
        "tokens_used": int((whole.first + whole.second).sum()) / max(len(shards), 1),
        "tokens_used_twice": int(np.maximum(ends[:-1] - whole.starts[1:], 0).sum()),
        "across_documents": int((ends > documents[homes + 1]).sum()),
        "aimed_short": float(whole.short.mean()),
        "padding": 1 - float(whole.sizes.sum() / (padded * np.diff(bounds)[:, 0]).sum()),
    }


def _checks(result: dict[str, Any], config: InstanceConfig) -> list[dict[str, Any]]:
    """Hold the figures against what was asked for; shares within four standard errors."""
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
        ("padding", 0.05, epoch["padding"], epoch["padding"] < 0.05),
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
    """Return a batch's first instance as tokens with what was asked of the model."""
    if limit <= 0:
        return []
    batch = drawn.batch
    size = int(batch.mask[0].sum())
    labels = {
        int(c): int(i) for (r, c), i in zip(batch.positions, batch.labels, strict=True) if not r
    }
    read = tokenizer.tokens(batch.token_ids[0, :size].tolist())
    wanted = dict(zip(labels, tokenizer.tokens(list(labels.values())), strict=True))
    return [
        {
            "instance": int(numbers[0]),
            "order": {0: "in order", 1: "swapped", -1: "one text"}[int(batch.order[0])],
            "aimed_short": bool(whole.short[numbers[0]]),
            "tokens": [
                {"read": token, "label": wanted[place]} if place in wanted else {"read": token}
                for place, token in enumerate(read)
            ],
        }
    ]
