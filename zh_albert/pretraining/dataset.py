"""Shards as training data, and held-out batches with fixed masks."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import torch

from zh_albert.errors import ConfigError
from zh_albert.pretraining.batches import InstanceBatch, draw_batch
from zh_albert.pretraining.instances import (
    PAIR_SPECIALS,
    BatchPlan,
    InstanceConfig,
    cut_sentences,
    plan_batches,
    plan_epoch,
)
from zh_albert.pretraining.masking import EVERY_CHOSEN_TOKEN
from zh_albert.pretraining.shards import Shards
from zh_albert.tokenization.token_sets import TokenSets
from zh_albert.training.loop import Batch


class BatchNumber(NamedTuple):
    """Identifier of a batch, which the training loop passes from ``plan`` to ``load``."""

    epoch: int
    number: int


class PretrainingSource:
    """Batches of masked instances; a ``training.loop.BatchSource``.

    Every instance occurs once an epoch, with an order and masks that belong to that epoch. A batch
    holds as many instances of one length, rounded up a little, as fit into ``batch_tokens``; so
    there is next to no padding, and few shapes to compile. Batches do not depend on each other: a
    resumed run continues by asking for the next number.

    Args:
        shards: The corpus.
        sets: Of the tokenizer that the shards were made with.
        config: Lengths, masks and order of instances.
        batch_tokens: Tokens of one forward pass, padding included.

    Raises:
        ConfigError: If a full instance does not fit into ``batch_tokens``, or there is no text.
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
        self._lock = threading.Lock()  # batches may be built on several threads

    def plan(self, epoch: int) -> Sequence[BatchNumber]:
        """Return the numbers of the epoch's batches."""
        return [BatchNumber(epoch, i) for i in range(len(self.batch_plan(epoch).bounds))]

    def load(self, item: BatchNumber) -> Batch:
        """Build one batch for the training loop; its weight is the number of tokens to predict.

        It depends on the seed and ``item`` only.
        """
        arrays = self.load_arrays(item)
        return Batch(
            inputs={name: torch.from_numpy(value) for name, value in arrays._asdict().items()},
            weight=float(len(arrays.labels)),
            tokens=int(arrays.mask.sum()),
        )

    def load_arrays(self, item: BatchNumber) -> InstanceBatch:
        """Build one batch as numpy arrays."""
        plan = self.batch_plan(item.epoch)
        first, end = plan.bounds[item.number]
        return draw_batch(
            self.shards,
            plan.epoch,
            plan.order[first:end],
            self.sets,
            self.config.masking,
            multiple_of=self.config.length_step,
            most=self.config.length,
        ).batch

    def batch_plan(self, epoch: int) -> BatchPlan:
        """Return the batches of an epoch; the last epoch asked for is cached."""
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
) -> list[Batch]:
    """Return the batches of a held-out text, or the first ``most``; always the same ones.

    Every instance has the full length, whole words are chosen at ``masking.rate``, and every chosen
    position is masked, so that no answer can be copied.
    """
    fixed = replace(config, short_rate=0.0, masking=EVERY_CHOSEN_TOKEN)
    source = PretrainingSource(shards, sets, fixed, batch_tokens=batch_tokens)
    try:
        plan = source.plan(0)
    except ConfigError as error:
        raise ConfigError(f"held-out text: {error}") from None
    return [source.load(item) for item in plan[:most]]
