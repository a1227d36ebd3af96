"""Which words may be hidden."""

from __future__ import annotations

import numpy as np

from tests.helpers.shards_in_memory import TOKENIZER, shards_of
from zh_albert.pretraining.batches import draw_batch
from zh_albert.pretraining.instances import InstanceConfig, cut_sentences, plan_epoch
from zh_albert.tokenization.token_sets import TokenSets

SETS = TokenSets.of(TOKENIZER)


def test_words_with_an_unknown_token_are_never_hidden() -> None:
    shards = shards_of("龘。" * 3)
    config = InstanceConfig(length=32, min_tokens=1)
    unknown = {TOKENIZER.special.unk}
    plan = plan_epoch(cut_sentences(shards, 29), config, 0)
    batch = draw_batch(shards, plan, np.arange(1), SETS, config.masking).batch

    if set(TOKENIZER.encode("龘").ids) == unknown:
        assert set(TOKENIZER.tokens(batch.labels.tolist())) == {"。"}
