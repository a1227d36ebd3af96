"""Instances worked out by hand, and training data for the loop."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from corpora_tools.sentences import sentence_spans
from tests.shards_in_memory import shards_of_texts
from zh_albert.errors import ConfigError
from zh_albert.pretraining.batches import draw_batch
from zh_albert.pretraining.counter_rng import below, draw, keys, uniform
from zh_albert.pretraining.dataset import PretrainingSource, evaluation_batches
from zh_albert.pretraining.instances import InstanceConfig, cut_sentences, plan_epoch
from zh_albert.pretraining.masking import EVERY_CHOSEN_TOKEN
from zh_albert.pretraining.prefetch import PrefetchingSource
from zh_albert.pretraining.shards import Shards
from zh_albert.tokenization.token_sets import TokenSets
from zh_albert.tokenization.tokenizer import Tokenizer, default_tokenizer
from zh_albert.tokenization.vocab import SPECIAL_TOKENS, Vocabulary
from zh_albert.tokenization.wordpiece import WordPieceTokenizer
from zh_albert.tokenization.words import segmenter

TOKENIZER = default_tokenizer()
SETS = TokenSets.of(TOKENIZER)


def shards_of(*texts: str, tokenizer: Tokenizer = TOKENIZER) -> Shards:
    return shards_of_texts(texts, tokenizer, segmenter().cut, sentence_spans)


def borders(shards: Shards, **settings: float) -> list[tuple[int, int, int]]:
    config = InstanceConfig(short_rate=0, min_tokens=1, **settings)  # type: ignore[arg-type]
    plan = plan_epoch(cut_sentences(shards, config.length - 3), config, 0)
    return list(zip(plan.starts.tolist(), plan.first.tolist(), plan.second.tolist(), strict=True))


def test_random_bits_are_the_published_ones() -> None:
    # splitmix64 seeded with 0: its first outputs, as in the reference implementation.
    from zh_albert.pretraining.counter_rng import mix

    states = np.arange(3, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)

    assert [hex(value) for value in mix(states).tolist()] == [
        "0xe220a8397b1dcdaf",
        "0x6e789e6aa1b965f4",
        "0x6c45d188009454f",
    ]


def test_draws_are_even_and_streams_apart() -> None:
    own = keys(1, 0, np.arange(20_000))
    shares = uniform(draw(own, 0))
    numbers = below(draw(own, 1), 7)

    assert abs(shares.mean() - 0.5) < 0.01
    assert abs(np.corrcoef(shares, uniform(draw(own, 1)))[0, 1]) < 0.03
    assert abs(np.corrcoef(shares[1:], shares[:-1])[0, 1]) < 0.03
    assert set(numbers.tolist()) == set(range(7))
    assert np.bincount(numbers).min() > 2_600


def test_documents_are_filled_with_whole_sentences() -> None:
    # Sentences of 4, 4, 4 and 4 tokens; 3 of 13 tokens are [CLS] and [SEP].
    shards = shards_of("天气好。天气好。天气好。天气好。", "我走了。")

    assert borders(shards, length=13) == [(0, 4, 4), (8, 4, 4), (16, 4, 0)]
    assert borders(shards, length=20)[0] in [(0, 4, 12), (0, 8, 8), (0, 12, 4)]


def test_a_document_of_one_sentence_has_no_order() -> None:
    shards = shards_of("我走了。", "天气好。天气差。")
    config = InstanceConfig(length=32, min_tokens=1)
    plan = plan_epoch(cut_sentences(shards, 29), config, 0)
    batch = draw_batch(shards, plan, np.arange(2), SETS, config.masking).batch

    assert batch.order[0] == -1
    assert batch.order[1] in (0, 1)
    assert batch.type_ids[0].sum() == 0
    assert batch.mask.sum(1).tolist() == [6, 11]


def test_a_pair_of_the_same_text_has_no_order() -> None:
    shards = shards_of("天气好。天气好。", "天气好。天气差。", "天气好。天气很好。")
    config = InstanceConfig(length=32, min_tokens=1)
    plan = plan_epoch(cut_sentences(shards, 29), config, 0)
    batch = draw_batch(shards, plan, np.arange(3), SETS, config.masking).batch

    assert batch.order[0] == -1
    assert batch.type_ids[0].any()
    assert set(batch.order[1:].tolist()) <= {0, 1}


def test_an_overlong_sentence_is_cut_before_a_word_and_has_no_order() -> None:
    # 自然语言 | 处理 …: 8 words of 2 tokens fit 17 of the 20 places, the 9th does not.
    shards = shards_of("天气" * 20 + "。好。")
    found = borders(shards, length=20)

    assert found == [(0, 16, 0), (16, 16, 0), (32, 11, 0)]


def test_documents_with_too_few_tokens_are_left_out() -> None:
    shards = shards_of("好。", "天气好天气好。")
    plan = plan_epoch(cut_sentences(shards, 29), InstanceConfig(length=32, min_tokens=7), 0)

    assert plan.starts.tolist() == [2]
    with pytest.raises(ConfigError, match="no document has 9 tokens"):
        plan_epoch(cut_sentences(shards, 29), InstanceConfig(length=32, min_tokens=9), 0)


def test_no_text_is_refused() -> None:
    with pytest.raises(ConfigError, match="hold no text"):
        PretrainingSource(shards_of(" \n"), SETS, InstanceConfig(), batch_tokens=512)


def test_a_word_longer_than_an_instance_is_cut_all_the_same() -> None:
    rows = Vocabulary([*SPECIAL_TOKENS, "b", "##b"])
    tokenizer = WordPieceTokenizer(rows)
    shards = shards_of("b" * 40, tokenizer=tokenizer)
    config = InstanceConfig(length=16, min_tokens=1)
    plan = plan_epoch(cut_sentences(shards, 13), config, 0)
    batch = draw_batch(shards, plan, np.arange(4), TokenSets.of(tokenizer), config.masking).batch

    assert plan.first.tolist() == [13, 13, 13, 1]
    assert len(batch.labels) == 40  # no word fits the budget, so the only one is taken


def test_rows_that_no_text_becomes_are_no_replacements() -> None:
    rows = [*SPECIAL_TOKENS, "[unused0]", "[unused17]", "好", "##好", "a", "##a", "[", "]", "<s>"]
    sets = TokenSets.of(WordPieceTokenizer(Vocabulary(rows)))

    assert [rows[token_id] for token_id in sets.plain] == ["好", "a", "##a", "[", "]"]
    with pytest.raises(ConfigError, match="only special and unused"):
        TokenSets.of(WordPieceTokenizer(Vocabulary(rows[:6])))


def test_words_with_an_unknown_token_are_never_hidden() -> None:
    shards = shards_of("龘。" * 3)
    config = InstanceConfig(length=32, min_tokens=1)
    unknown = {TOKENIZER.special.unk}
    plan = plan_epoch(cut_sentences(shards, 29), config, 0)
    batch = draw_batch(shards, plan, np.arange(1), SETS, config.masking).batch

    if set(TOKENIZER.encode("龘").ids) == unknown:
        assert set(TOKENIZER.tokens(batch.labels.tolist())) == {"。"}


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


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"length": 4}, "length must be from 8"),
        ({"length": 5000}, "length must be from 8"),
        ({"short_rate": 1.5}, "short_rate must be"),
        ({"swap_rate": -1}, "swap_rate must be"),
        ({"min_tokens": 0}, "min_tokens must be"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_impossible_settings_are_refused(settings: dict[str, float], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        InstanceConfig(**settings)  # type: ignore[arg-type]


def test_a_batch_must_hold_an_instance() -> None:
    with pytest.raises(ConfigError, match=r"batch_tokens \(100\) must be at least length \(128\)"):
        PretrainingSource(shards_of("好。"), SETS, InstanceConfig(), batch_tokens=100)
