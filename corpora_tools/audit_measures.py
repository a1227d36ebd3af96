"""Measures of an audit: sums over drawn batches, and properties of a whole epoch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zh_albert.pretraining.batches import DrawnBatch
from zh_albert.pretraining.instances import Epoch, InstanceConfig, plan_batches
from zh_albert.pretraining.masking import KEPT_OUT
from zh_albert.pretraining.ranges import joined_ranges
from zh_albert.pretraining.shards import Shards
from zh_albert.tokenization.token_sets import TokenSets

_BATCH_TOKENS = 16_384  # for padding, which hardly depends on it


@dataclass
class Sums:
    """Totals and histograms over batches, by name."""

    totals: dict[str, float] = field(default_factory=dict)
    histograms: dict[str, NDArray[np.int64]] = field(default_factory=dict)

    def add(self, **values: Any) -> None:
        """Add numbers to totals."""
        for name, value in values.items():
            self.totals[name] = self.totals.get(name, 0) + float(value)

    def count(self, name: str, values: NDArray[Any]) -> None:
        """Add non-negative values to a histogram."""
        known = self.histograms.get(name, np.zeros(0, np.int64))
        new = np.bincount(values.astype(np.int64), minlength=len(known))
        new[: len(known)] += known
        self.histograms[name] = new


def measure(sums: Sums, drawn: DrawnBatch, sets: TokenSets, config: InstanceConfig) -> None:
    """Add the measures of a batch; words, budgets and faults are computed from its arrays."""
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
    # Each word's tokens are adjacent, so sums over them show how the word was masked.
    places = joined_ranges(words.rows * read.shape[1] + drawn.word_columns, words.lengths)
    hidden = is_target.ravel()[places]
    as_mask = hidden & (read.ravel()[places] == sets.special.mask)
    as_is = hidden & (read.ravel()[places] == labels.ravel()[places])
    other = hidden & ~as_mask & ~as_is
    first = np.cumsum(words.lengths) - words.lengths
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
    """Count pairs with an order although their two texts are the same."""
    originals = np.where(labels >= 0, labels, read)
    found = 0
    for row in np.flatnonzero(order >= 0):
        size = int(drawn.batch.mask[row].sum())
        second = int(drawn.batch.type_ids[row].sum())
        if 2 * second == size - 1:  # a and b have the same length
            a, b = originals[row, 1 : size - second], originals[row, size - second : size]
            found += bool((a == b).all())
    return found


def summary(sums: Sums, config: InstanceConfig) -> dict[str, Any]:
    """Return fractions and counts of all measures; JSON-ready."""
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


_PADDING = 0.05


def _shares(counts: NDArray[Any]) -> list[float]:
    return [round(float(value), 5) for value in counts / max(counts.sum(), 1)]


def epoch_measures(
    shards: Shards, whole: Epoch, config: InstanceConfig, epoch: int
) -> dict[str, Any]:
    """Measure all instances of the epoch: their borders and batches, not their contents."""
    plan = plan_batches(whole, config, epoch, batch_tokens=max(_BATCH_TOKENS, config.length))
    bounds = np.sort(plan.bounds, axis=0)
    longest = np.maximum.reduceat(whole.sizes[plan.order], bounds[:, 0])
    padded = -(-longest // config.length_step) * config.length_step
    rounding = config.length_step - 1  # tokens of padding that an instance may have by design
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
        "padding_allowed": max(_PADDING, rounding / (float(whole.sizes.mean()) + rounding)),
    }
