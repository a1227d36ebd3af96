from typing import Any

import pytest
import torch

from zh_albert.errors import ConfigError
from zh_albert.model.config import PRESETS, AlbertConfig
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.heads import SequenceClassifier

SIZES: dict[str, Any] = {
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 20,
}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"num_attention_heads": 5}, r"hidden_size \(12\).*num_attention_heads \(5\)"),
        ({"num_hidden_layers": 0}, "num_hidden_layers must be at least 1, got 0"),
        ({"hidden_dropout_prob": 1.0}, r"hidden_dropout_prob must be in \[0, 1\), got 1.0"),
        ({"sharing": "atention"}, "unknown sharing 'atention'; did you mean 'attention'"),
        ({"hidden_act": "swish"}, "unknown hidden_act 'swish'; known: gelu, gelu_new, relu"),
        ({"pad_token_id": 21_128}, r"pad_token_id \(21128\).*vocab_size 21128"),
        ({"layer_norm_eps": 0.0}, r"layer_norm_eps \(0.0\)"),
    ],
)
def test_values_that_cannot_work_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        AlbertConfig(**SIZES | wrong)


def test_presets_follow_the_chinese_releases() -> None:
    for config in PRESETS.values():
        assert config.hidden_dropout_prob == config.attention_probs_dropout_prob == 0
        assert config.intermediate_size == 4 * config.hidden_size
    assert PRESETS["xlarge"].num_attention_heads == 32


def test_more_tokens_than_positions_are_refused_with_both_numbers() -> None:
    encoder = AlbertEncoder(AlbertConfig(**SIZES, vocab_size=9, max_position_embeddings=4))
    ids = torch.ones(1, 5, dtype=torch.long)

    with pytest.raises(ConfigError, match=r"5 tokens.*max_position_embeddings is 4"):
        encoder(ids, torch.zeros_like(ids), ids > 0)


@pytest.mark.parametrize("wrong", [{"num_labels": 0}, {"num_labels": 2, "pooling": "max"}])
def test_a_classifier_that_cannot_work_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="must be"):
        SequenceClassifier(AlbertConfig(**SIZES), **wrong)


def test_initial_weights_have_the_configured_spread() -> None:
    torch.manual_seed(0)
    encoder = AlbertEncoder(AlbertConfig(**SIZES, vocab_size=500, initializer_range=0.05))
    table = encoder.embeddings.word.weight

    assert table[1:].std().item() == pytest.approx(0.05, rel=0.05)
    assert not table[0].any()
    assert not encoder.pooler.bias.any()
    assert (encoder.attention[0].norm.weight == 1).all()
