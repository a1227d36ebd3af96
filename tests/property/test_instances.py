"""Texts → shards → instances: rules that hold for any text, seed and split of the work."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpora_tools.sentences import sentence_spans
from tests.helpers.shards_in_memory import shards_of_texts
from zh_albert.pretraining.batches import draw_batch
from zh_albert.pretraining.bulk_tokenizer import BLOCK_CHARACTERS, BlockEncoder
from zh_albert.pretraining.dataset import PretrainingSource
from zh_albert.pretraining.instances import (
    PAIR_SPECIALS,
    Epoch,
    InstanceConfig,
    cut_sentences,
    plan_epoch,
)
from zh_albert.pretraining.masking import MaskingConfig
from zh_albert.pretraining.shards import Shards
from zh_albert.tokenization.token_sets import TokenSets
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.tokenization.words import segmenter, word_ranges

TOKENIZER = default_tokenizer()
SETS = TokenSets.of(TOKENIZER)
SPECIAL = TOKENIZER.special
_WORDS = "今天 天气 很好 我们 学习 自然语言 Python ran 2023 龘 ， 、 “ ” （ ） 的 阿Q 卡拉OK T恤 é"
_ENDS = ["。", "！", "？", "\n", "……", "。”"]

words = st.lists(st.sampled_from(_WORDS.split()), min_size=1, max_size=30)
sentences = st.tuples(words, st.sampled_from(_ENDS)).map(lambda s: "".join(s[0]) + s[1])
texts = st.lists(st.lists(sentences, min_size=1, max_size=12).map("".join), min_size=1, max_size=6)
raw_texts = st.lists(
    st.text(st.sampled_from("中国人 龘a1\n\t\u3000Ａé\u0301\u200b가が\ud800😂…。“”\0\r①İﬁ㎡.")),
    max_size=8,
)
configs = st.builds(
    InstanceConfig,
    length=st.integers(12, 64),
    short_rate=st.sampled_from([0.0, 0.1, 1.0]),
    min_tokens=st.just(1),
    seed=st.integers(0, 2**40),
)


@cache
def cut():
    return segmenter("rjieba").cut


def shards_of(some: list[str]) -> Shards:
    return shards_of_texts(some, TOKENIZER, cut(), sentence_spans)


def planned(shards: Shards, config: InstanceConfig, epoch: int = 0) -> Epoch:
    return plan_epoch(cut_sentences(shards, config.length - PAIR_SPECIALS), config, epoch)


def usable(some: list[str]) -> bool:
    return any(TOKENIZER.encode(text).ids for text in some)


@pytest.mark.slow
@settings(max_examples=300)
@given(some=st.one_of(raw_texts, texts))
@example(some=["が가", "王建國看著乾隆", "他的著作", "yyds💯👍🏻a"])
def test_blocks_equal_the_tokenizer_text_by_text(some: list[str]) -> None:
    ids: list[int] = []
    starts: list[int] = []
    documents: list[int] = []
    for text in some:
        encoding = TOKENIZER.encode(text)
        if len(encoding):
            documents.append(len(ids))
        starts += [len(ids) + word.start for word in word_ranges(text, encoding.offsets, cut())]
        ids += encoding.ids
    shards = shards_of(some)
    found, word_starts = shards.gather(np.array([0]), np.array([len(shards)]))

    assert found.tolist() == ids
    assert shards.documents().tolist() == [*documents, len(ids)]
    assert set(starts) <= set(np.flatnonzero(word_starts))
    # A sentence always begins a word; nothing else is added.
    extra = set(np.flatnonzero(word_starts)) - set(starts)
    assert extra <= set(shards.sentences().tolist())


@pytest.mark.slow
@given(some=texts, config=configs, epoch=st.integers(0, 3))
def test_every_token_is_in_one_instance_and_none_is_too_long(
    some: list[str], config: InstanceConfig, epoch: int
) -> None:
    if not usable(some):
        return
    shards = shards_of(some)
    plan = planned(shards, config, epoch)
    ends = plan.starts + plan.first + plan.second

    assert plan.starts.tolist() == [0, *ends[:-1].tolist()]
    assert ends[-1] == len(shards)
    assert plan.sizes.max() <= config.length
    documents = shards.documents()
    homes = np.searchsorted(documents, plan.starts, side="right")
    assert (ends <= documents[homes]).all()


@pytest.mark.slow
@given(some=texts, config=configs)
def test_pairs_are_whole_sentences_and_only_they_have_an_order(
    some: list[str], config: InstanceConfig
) -> None:
    if not usable(some):
        return
    shards = shards_of(some)
    plan = planned(shards, config)
    borders = set(shards.sentences().tolist())

    for start, first, second in zip(plan.starts, plan.first, plan.second, strict=True):
        if second:
            assert {start, start + first, start + first + second} <= borders
    assert not plan.swapped[plan.second == 0].any()


@pytest.mark.slow
@given(some=texts, config=configs)
def test_a_batch_holds_the_text_with_whole_words_hidden(
    some: list[str], config: InstanceConfig
) -> None:
    if not usable(some):
        return
    shards = shards_of(some)
    plan = planned(shards, config)
    numbers = np.arange(len(plan.starts))
    batch = draw_batch(shards, plan, numbers, SETS, config.masking).batch
    labels = np.full(batch.token_ids.shape, -1)
    labels[batch.positions[:, 0], batch.positions[:, 1]] = batch.labels

    assert not set(batch.labels.tolist()) & set(SPECIAL)
    for row in range(len(numbers)):
        start, first, second = (int(a[row]) for a in plan[1:4])
        ids, word_starts = shards.gather(np.array([start]), np.array([first + second]))
        word_starts[[0, first] if second else 0] = True
        a, b = ids[:first].tolist(), ids[first:].tolist()
        halves = [h for h in ([b, a] if plan.swapped[row] else [a, b]) if h]
        whole = [SPECIAL.cls]
        types = [0]
        for type_id, half in enumerate(halves):
            whole += [*half, SPECIAL.sep]
            types += [type_id] * (len(half) + 1)
        size = len(whole)
        hidden = labels[row] >= 0
        assert batch.mask[row].tolist() == [True] * size + [False] * (len(hidden) - size)
        assert np.where(hidden, labels[row], batch.token_ids[row])[:size].tolist() == whole
        assert batch.type_ids[row, :size].tolist() == types
        assert not hidden[size:].any()
        assert set(batch.token_ids[row, size:].tolist()) <= {SPECIAL.pad}
        # In the order of the text: no word is hidden in part.
        shown = hidden[1:size].tolist()
        cut_at = len(halves[0])
        parts = [shown[:cut_at], shown[cut_at + 1 : size - 2] if second else []]
        in_text = np.array(parts[1] + parts[0] if plan.swapped[row] else parts[0] + parts[1], bool)[
            : len(ids)
        ]
        for word in np.split(np.arange(len(ids)), np.flatnonzero(word_starts)[1:]):
            assert len(set(in_text[word])) == 1
            assert not (in_text[word].any() and (ids[word] == SPECIAL.unk).any())


@pytest.mark.slow
@given(some=texts, config=configs)
def test_replacements_are_tokens_a_text_can_become(some: list[str], config: InstanceConfig) -> None:
    if not usable(some):
        return
    shards = shards_of(some)
    plan = planned(shards, config)
    batch = draw_batch(shards, plan, np.arange(len(plan.starts)), SETS, config.masking).batch
    read = batch.token_ids[batch.positions[:, 0], batch.positions[:, 1]]

    assert set(read.tolist()) <= {SPECIAL.mask, *SETS.plain.tolist()}
    rows = TOKENIZER.tokens(SETS.plain.tolist())
    assert not [row for row in rows if row.startswith("[") and row.endswith("]") and len(row) > 2]


@pytest.mark.slow
@given(some=texts, config=configs, epoch=st.integers(0, 2), workers=st.integers(1, 4))
def test_any_split_of_the_work_gives_the_same_instances(
    some: list[str], config: InstanceConfig, epoch: int, workers: int
) -> None:
    if not usable(some):
        return
    shards = shards_of(some)

    def source() -> PretrainingSource:
        return PretrainingSource(shards, SETS, config, batch_tokens=128)

    alone = source()
    items = alone.plan(epoch)
    whole = [alone.load_arrays(item) for item in items]
    split = {}
    for worker in range(workers):
        mine = source()  # of another process
        for item in items[worker::workers][::-1]:
            split[item] = mine.load_arrays(item)
    for item, batch in zip(items, whole, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(batch, split[item], strict=True))
    instances = sorted(number for first, end in alone.batch_plan(epoch).bounds.tolist()
                       for number in alone.batch_plan(epoch).order[first:end].tolist())  # fmt: skip
    assert instances == list(range(len(alone.batch_plan(epoch).epoch.starts)))


@pytest.mark.slow
@given(some=texts, config=configs)
def test_one_instance_is_the_same_alone(some: list[str], config: InstanceConfig) -> None:
    if not usable(some):
        return
    shards = shards_of(some)
    plan = planned(shards, config)
    together = draw_batch(shards, plan, np.arange(len(plan.starts)), SETS, config.masking).batch
    for row in range(len(plan.starts)):
        alone = draw_batch(shards, plan, np.array([row]), SETS, config.masking).batch
        size = alone.token_ids.shape[1]
        assert together.token_ids[row, :size].tolist() == alone.token_ids[0].tolist()
        mine = together.positions[:, 0] == row
        assert together.labels[mine].tolist() == alone.labels.tolist()


def text_of(rng: random.Random, count: int) -> str:
    pool = "今天天气很好我们去公园散步他说这本书值得一读经济发展科学技术北京上海"
    return "".join("".join(rng.choices(pool, k=rng.randint(5, 30))) + "。" for _ in range(count))


def test_half_of_the_pairs_are_swapped_and_a_tenth_aims_short() -> None:
    rng = random.Random(1)
    shards = shards_of([text_of(rng, 60) for _ in range(200)])
    plan = planned(shards, InstanceConfig(length=64))
    pairs = plan.second > 0

    assert pairs.mean() > 0.8
    assert plan.swapped[pairs].mean() == pytest.approx(0.5, abs=0.03)
    assert plan.short.mean() == pytest.approx(0.1, abs=0.02)


def test_epochs_and_seeds_differ() -> None:
    rng = random.Random(1)
    shards = shards_of([text_of(rng, 60) for _ in range(20)])
    seen = set()
    for seed, epoch in [(1, 0), (1, 1), (2, 0)]:
        config = InstanceConfig(length=64, seed=seed)
        source = PretrainingSource(shards, SETS, config, batch_tokens=1024)
        seen.add(source.load_arrays(source.plan(epoch)[0]).token_ids.tobytes())

    assert len(seen) == 3


def test_masks_pairs_and_swaps_are_drawn_anew_each_epoch() -> None:
    rng = random.Random(1)
    shards = shards_of([text_of(rng, 60) for _ in range(10)])
    config = InstanceConfig(length=64, short_rate=0)
    first, second = planned(shards, config, 0), planned(shards, config, 1)
    every = np.arange(len(first.starts))
    batches = [
        draw_batch(shards, plan, every, SETS, config.masking).batch for plan in (first, second)
    ]

    assert first.starts.tolist() == second.starts.tolist()
    assert (first.first != second.first).mean() > 0.2
    assert (first.swapped != second.swapped).mean() > 0.2
    masks = [set(map(tuple, batch.positions.tolist())) for batch in batches]
    assert len(masks[0] & masks[1]) < 0.3 * len(masks[0])


def test_padding_stays_under_five_in_a_hundred() -> None:
    rng = random.Random(1)
    shards = shards_of([text_of(rng, rng.randint(1, 40)) for _ in range(400)])
    source = PretrainingSource(shards, SETS, InstanceConfig(), batch_tokens=4096)
    masks = [source.load_arrays(item).mask for item in source.plan(0)]

    assert len(masks) < sum(m.sum() for m in masks) / 4096 * 1.1 + 16  # a last one of each length
    assert sum(m.sum() for m in masks) / sum(m.size for m in masks) > 0.95


def test_words_are_drawn_as_the_choice_says() -> None:
    shards = shards_of(["我们在北京学习自然语言处理。今天天气很好。"])
    plan = planned(shards, InstanceConfig(length=32, min_tokens=1))
    drawn = draw_batch(shards, plan, np.array([0]), SETS, InstanceConfig().masking)
    hidden = np.repeat(drawn.choice.action > 0, drawn.words.lengths)

    assert hidden.sum() == len(drawn.batch.labels)


def test_in_a_share_of_the_instances_every_token_is_a_word() -> None:
    rng = random.Random(3)
    shards = shards_of([text_of(rng, 40) for _ in range(60)])
    plan = planned(shards, InstanceConfig(length=32))
    numbers = np.arange(len(plan.starts))
    drawn = draw_batch(shards, plan, numbers, SETS, MaskingConfig(whole_word_share=0.7))
    longest = np.zeros(len(numbers), np.int64)
    np.maximum.at(longest, drawn.words.rows, drawn.words.lengths)
    assert len(numbers) > 300
    assert (longest == 1).mean() == pytest.approx(0.3, abs=0.08)
    whole = draw_batch(shards, plan, numbers, SETS, MaskingConfig())
    same = longest > 1
    assert (drawn.batch.token_ids == whole.batch.token_ids)[same].all()


def test_a_long_text_is_cut_into_blocks_without_a_trace() -> None:
    rng = random.Random(3)
    text = text_of(rng, 10_000)
    assert len(text) > 2 * BLOCK_CHARACTERS
    blocks = list(BlockEncoder(TOKENIZER, cut(), sentence_spans).blocks(["甲。", text, "乙。"]))

    assert [sum(len(b.documents) for b in blocks[:n]) for n in (2, len(blocks))] == [2, 3]
    ids = np.concatenate([block.token_ids for block in blocks])
    assert ids.tolist() == TOKENIZER.encode("甲。\n" + text + "\n乙。").ids
    assert sum(len(block.sentences) for block in blocks) == 10_002
