"""Shards as training data for the training loop, and held-out text with masks that never change."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import torch

from zh_albert.errors import ConfigError
from zh_albert.pretraining.batches import InstanceBatch, build_batch
from zh_albert.pretraining.instances import (
    PAIR_SPECIALS,
    BatchPlan,
    InstanceConfig,
    cut_sentences,
    plan_batches,
    plan_epoch,
)
from zh_albert.pretraining.masking import EVERY_CHOSEN_TOKEN, MaskingConfig
from zh_albert.pretraining.shards import Shards
from zh_albert.tokenization.token_sets import TokenSets
from zh_albert.training.loop import Batch


class BatchNumber(NamedTuple):
    """What identifies a batch: the training loop hands it from ``plan`` to ``load``."""

    epoch: int
    number: int


class PretrainingSource:
    """Batches of masked instances; see ``training.loop.BatchSource``.

    Every instance occurs once an epoch, in an order and with masks of that epoch. A batch holds
    instances of one length, rounded up a little, as many as fit ``batch_tokens``; so
    there is next to no padding, and few shapes to compile. Nothing is remembered from batch to
    batch: a resumed run goes on where it was by asking for the next number.

    Args:
        shards: The text.
        sets: Of the tokenizer the shards were made with.
        config: See there.
        batch_tokens: Of one forward pass, padding included.

    Raises:
        ConfigError: If a full instance does not fit ``batch_tokens``, or there is no text.
    """

    def __init__(
        self, shards: Shards, sets: TokenSets, config: InstanceConfig, *, batch_tokens: int
    ) -> None:
        if batch_tokens < config.length:
            raise ConfigError(
                f"batch_tokens ({batch_tokens}) must be at least length ({config.length})"
            )
        self.shards, self.sets, self.config = shards, sets, config
        self.batch_tokens = batch_tokens
        self._segments = cut_sentences(shards, config.length - PAIR_SPECIALS)
        self._planned: tuple[int, BatchPlan] | None = None
        self._lock = threading.Lock()  # batches can be made on several threads

    def plan(self, epoch: int) -> Sequence[BatchNumber]:
        """Return the numbers of the epoch's batches."""
        return [BatchNumber(epoch, i) for i in range(len(self.batch_plan(epoch).bounds))]

    def load(self, item: BatchNumber) -> Batch:
        """Make one batch; it depends on the seed and ``item`` alone."""
        return as_batch(self.load_arrays(item))

    def load_arrays(self, item: BatchNumber) -> InstanceBatch:
        """Do what ``load`` does, in numpy."""
        plan = self.batch_plan(item.epoch)
        first, end = plan.bounds[item.number]
        return build_batch(
            self.shards,
            plan.epoch,
            plan.order[first:end],
            self.sets,
            self.config.masking,
            multiple_of=self.config.length_step,
        )

    def batch_plan(self, epoch: int) -> BatchPlan:
        """Return the batches of an epoch; the one asked for last is kept."""
        with self._lock:
            if self._planned is None or self._planned[0] != epoch:
                instances = plan_epoch(self._segments, self.config, epoch)
                tokens = self.batch_tokens
                plan = plan_batches(instances, self.config, epoch, batch_tokens=tokens)
                self._planned = (epoch, plan)
            return self._planned[1]


def evaluation_batches(
    shards: Shards,
    sets: TokenSets,
    config: InstanceConfig,
    *,
    batch_tokens: int,
    most: int | None = None,
    masking: MaskingConfig = EVERY_CHOSEN_TOKEN,
) -> list[Batch]:
    """Return a held-out text, or the first ``most`` of its batches; always the same ones.

    Every instance aims at the full length and every chosen position is masked, whole words at
    ``masking.rate``, so that no answer can be copied.
    """
    fixed = replace(config, short_rate=0.0, masking=masking)
    source = PretrainingSource(shards, sets, fixed, batch_tokens=batch_tokens)
    return [source.load(item) for item in source.plan(0)[:most]]


def as_batch(arrays: InstanceBatch) -> Batch:
    """Return a batch for the training loop; its weight is the number of tokens to predict."""
    return Batch(
        inputs={name: torch.from_numpy(value) for name, value in arrays._asdict().items()},
        weight=float(len(arrays.labels)),
        tokens=int(arrays.mask.sum()),
    )
