"""Training data for the loop, and held-out text."""

from __future__ import annotations

import pytest
import torch

from tests.helpers.shards_in_memory import TOKENIZER, shards_of
from zh_albert.errors import ConfigError
from zh_albert.pretraining.dataset import PretrainingSource, evaluation_batches
from zh_albert.pretraining.instances import InstanceConfig
from zh_albert.pretraining.masking import EVERY_CHOSEN_TOKEN
from zh_albert.tokenization.token_sets import TokenSets

SETS = TokenSets.of(TOKENIZER)


def test_no_text_is_refused() -> None:
    with pytest.raises(ConfigError, match="hold no text"):
        PretrainingSource(shards_of(" \n"), SETS, InstanceConfig(), batch_tokens=512)


def test_the_source_gives_the_engine_tensors() -> None:
    shards = shards_of(*["天气很好。我们去公园散步。" * 4] * 8)
    source = PretrainingSource(shards, SETS, InstanceConfig(length=32), batch_tokens=128)
    items = source.plan(0)
    batch = source.load(items[0])

    assert set(batch.inputs) == {"token_ids", "type_ids", "mask", "positions", "labels", "order"}
    assert batch.inputs["token_ids"].dtype == torch.int64
    assert batch.inputs["token_ids"].numel() <= 128
    assert batch.inputs["token_ids"].shape[1] % 2 == 0
    assert batch.weight == len(batch.inputs["labels"]) > 0
    assert batch.tokens == int(batch.inputs["mask"].sum())
    again = PretrainingSource(shards, SETS, InstanceConfig(length=32), batch_tokens=128)
    assert torch.equal(again.load(items[0]).inputs["token_ids"], batch.inputs["token_ids"])


def test_evaluation_hides_every_chosen_word_the_same_way_always() -> None:
    shards = shards_of(*["天气很好。我们去公园散步。" * 4] * 8)
    config = InstanceConfig(length=32)
    first = evaluation_batches(shards, SETS, config, batch_tokens=256)
    second = evaluation_batches(shards, SETS, config, batch_tokens=256)

    assert EVERY_CHOSEN_TOKEN.mask_share == 1
    for one, other in zip(first, second, strict=True):
        rows, columns = one.inputs["positions"].T
        assert set(one.inputs["token_ids"][rows, columns].tolist()) == {TOKENIZER.special.mask}
        assert all(torch.equal(value, other.inputs[name]) for name, value in one.inputs.items())


def test_a_batch_must_hold_an_instance() -> None:
    with pytest.raises(ConfigError, match=r"batch_tokens \(100\) must be at least length \(128\)"):
        PretrainingSource(shards_of("好。"), SETS, InstanceConfig(), batch_tokens=100)


def test_a_batch_is_no_longer_than_an_instance_may_be() -> None:
    shards = shards_of(*["天气很好。我们去公园散步。" * 9] * 8)
    config = InstanceConfig(length=100)
    assert config.length % config.length_step
    source = PretrainingSource(shards, SETS, config, batch_tokens=256)
    lengths = [source.load(item).inputs["token_ids"].shape[1] for item in source.plan(0)]
    assert max(lengths) == 100


def test_held_out_text_that_is_too_short_is_named() -> None:
    with pytest.raises(ConfigError, match="held-out text: no document has 20 tokens"):
        evaluation_batches(
            shards_of("好。"), SETS, InstanceConfig(length=32, min_tokens=20), batch_tokens=256
        )
    with pytest.raises(ConfigError, match=r"min_tokens must be from 1 to 5, .* found 8"):
        InstanceConfig(length=8)
