"""Instances worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.shards_in_memory import TOKENIZER, shards_of
from zh_albert.errors import ConfigError
from zh_albert.pretraining.batches import draw_batch
from zh_albert.pretraining.instances import InstanceConfig, cut_sentences, plan_epoch
from zh_albert.pretraining.shards import Shards
from zh_albert.tokenization.token_sets import TokenSets
from zh_albert.tokenization.vocab import SPECIAL_TOKENS, Vocabulary
from zh_albert.tokenization.wordpiece import WordPieceTokenizer

SETS = TokenSets.of(TOKENIZER)


def borders(shards: Shards, **settings: float) -> list[tuple[int, int, int]]:
    config = InstanceConfig(short_rate=0, min_tokens=1, **settings)  # type: ignore[arg-type]
    plan = plan_epoch(cut_sentences(shards, config.length - 3), config, 0)
    return list(zip(plan.starts.tolist(), plan.first.tolist(), plan.second.tolist(), strict=True))


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


def test_a_word_longer_than_an_instance_is_cut_all_the_same() -> None:
    rows = Vocabulary([*SPECIAL_TOKENS, "b", "##b"])
    tokenizer = WordPieceTokenizer(rows)
    shards = shards_of("b" * 40, tokenizer=tokenizer)
    config = InstanceConfig(length=16, min_tokens=1)
    plan = plan_epoch(cut_sentences(shards, 13), config, 0)
    batch = draw_batch(shards, plan, np.arange(4), TokenSets.of(tokenizer), config.masking).batch

    assert plan.first.tolist() == [13, 13, 13, 1]
    assert len(batch.labels) == 40  # no word fits the budget, so the only one is taken


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
