"""Batches made before they are asked for."""

from __future__ import annotations

import pytest
import torch

from tests.helpers.shards_in_memory import TOKENIZER, shards_of
from zh_albert.pretraining.dataset import PretrainingSource
from zh_albert.pretraining.instances import InstanceConfig
from zh_albert.pretraining.prefetch import PrefetchingSource
from zh_albert.tokenization.token_sets import TokenSets

SETS = TokenSets.of(TOKENIZER)


@pytest.mark.parametrize("world", [1, 2, 3])
def test_batches_made_ahead_are_the_same(world: int) -> None:
    shards = shards_of(*["天气很好。我们去公园散步。" * 4] * 20)
    plain, source = (
        PretrainingSource(shards, SETS, InstanceConfig(length=32), batch_tokens=64)
        for _ in range(2)
    )
    ahead = PrefetchingSource(source, batches=3)
    for epoch in (0, 1, 0):
        for item in ahead.plan(epoch)[world - 1 :: world]:
            ours, theirs = ahead.load(item).inputs, plain.load(item).inputs
            assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
            assert len(ahead._ready) <= 3
    ahead.close()
