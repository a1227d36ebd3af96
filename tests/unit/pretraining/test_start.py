"""The start from statistics, on a made-up language whose neighbours are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.helpers.successors import documents
from zh_albert.errors import ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.pretraining.cooccurrence import count_cooccurrences
from zh_albert.pretraining.start import StatisticsConfig, initialize_from_statistics

SPECIAL = [0, 1, 2, 3, 4]
VOCAB = 45
CONFIG = AlbertConfig(
    vocab_size=VOCAB,
    embedding_size=64,
    hidden_size=128,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=64,
)


def masked_accuracy(model: AlbertForPretraining) -> float:
    rows = torch.from_numpy(np.stack(documents(40, 1)).astype(np.int64))
    mask = torch.rand(rows.shape, generator=torch.Generator().manual_seed(0)) < 0.05
    inputs = rows.masked_fill(mask, 4)
    with torch.inference_mode():
        logits = model(
            inputs, torch.zeros_like(inputs), torch.ones_like(inputs).bool(), mask.nonzero()
        ).masked
    labels = rows[mask]
    return (logits.argmax(-1) == labels).float().mean().item()


def test_the_start_predicts_before_any_training() -> None:
    torch.manual_seed(0)
    model = AlbertForPretraining(CONFIG).eval()
    before = masked_accuracy(model)
    counts = count_cooccurrences(documents(400, 0), VOCAB)
    with pytest.raises(ConfigError, match=r"start.statistics.noise_std must be at least 0"):
        StatisticsConfig(noise_std=-0.1)
    initialize_from_statistics(model, counts, SPECIAL, StatisticsConfig())
    after = masked_accuracy(model)
    assert before < 0.1
    assert after > 0.6


def test_a_seed_may_have_more_than_32_bits() -> None:
    counts = count_cooccurrences(documents(5, 0), VOCAB)
    model = AlbertForPretraining(CONFIG)
    initialize_from_statistics(model, counts, SPECIAL, StatisticsConfig(), seed=2**64)

    assert all(parameter.isfinite().all() for parameter in model.parameters())


def test_another_layout_or_too_narrow_a_model_is_refused() -> None:
    counts = count_cooccurrences(documents(5, 0), VOCAB)
    bright = AlbertForPretraining(replace(CONFIG, embedding_layout="brightmart"))
    with pytest.raises(ConfigError, match="google layout"):
        initialize_from_statistics(bright, counts, SPECIAL, StatisticsConfig())
    narrow = AlbertForPretraining(replace(CONFIG, hidden_size=64))
    with pytest.raises(ConfigError, match="needs hidden_size >= "):
        initialize_from_statistics(narrow, counts, SPECIAL, StatisticsConfig())


def test_a_vocabulary_that_is_too_small_is_refused() -> None:
    sizes = replace(CONFIG, vocab_size=20)
    counts = count_cooccurrences([np.array([5, 6, 7], np.uint16)], 20)
    with pytest.raises(ConfigError, match=r"at least 38 tokens in the vocabulary, found 20"):
        initialize_from_statistics(AlbertForPretraining(sizes), counts, SPECIAL, StatisticsConfig())


def test_text_that_is_one_character_is_refused() -> None:
    counts = count_cooccurrences([np.full(12, 7, np.uint16)], VOCAB)
    with pytest.raises(ConfigError, match="the text is too uniform"):
        initialize_from_statistics(
            AlbertForPretraining(CONFIG), counts, SPECIAL, StatisticsConfig()
        )
