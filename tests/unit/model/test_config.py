"""Sizes of an encoder."""

from typing import Any

import pytest

from zh_albert.errors import ConfigError
from zh_albert.model.config import PRESETS, AlbertConfig, fields_of, is_pruned

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
        ({"head_size": 0}, "head_size must be at least 1, got 0"),
        ({"block_heads": (2, 2)}, "a number for each of the 1 attention blocks, got 2"),
        ({"block_heads": (0,)}, "block_heads must be at least 1 each, got 0"),
        ({"block_heads": (1001,)}, "block_heads must be at most 1,000 each, got 1,001"),
        ({"block_neurons": (7, -1), "sharing": "none"}, "block_neurons must be .* got -1"),
        ({"block_neurons": (7,), "sharing": "attention"}, "of the 2 ffn blocks, got 1"),
        ({"layer": "gru"}, "unknown layer 'gru'; known: lstm, transformer"),
        ({"layer": "lstm", "hidden_size": 13, "num_attention_heads": 1}, r"\(13\) must be even"),
        ({"layer": "lstm", "plan": ((0, 0),) * 2}, "plan are of transformer layers, found layer"),
        (
            {"layer": "lstm", "head_size": 3, "block_heads": (2,)},
            "head_size and block_heads are of",
        ),
        ({"plan": ((0, 0),)}, r"each of the 2 layers \(num_hidden_layers\), got 1"),
        ({"plan": ((0, 0), (2, 0))}, "number the attention blocks from 0 .* got 0, 2"),
        ({"plan": ((0, 0), (0, -1))}, "number the ffn blocks from 0 .* got -1, 0"),
        (
            {"plan": ((0, 0), (0, 1)), "block_heads": (2, 1)},
            "a number for each of the 1 attention blocks, got 2",
        ),
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


def test_heads_with_a_size_of_their_own_need_not_divide_the_width() -> None:
    config = AlbertConfig(**SIZES | {"num_attention_heads": 5}, head_size=3)

    assert is_pruned(config)
    assert fields_of(config)["head_size"] == 3
    assert "plan" not in fields_of(config)
    assert not is_pruned(PRESETS["tiny"])


def test_the_kind_of_layer_is_written_only_where_it_is_another() -> None:
    assert "layer" not in fields_of(AlbertConfig(**SIZES))
    assert fields_of(AlbertConfig(**SIZES, layer="lstm"))["layer"] == "lstm"
