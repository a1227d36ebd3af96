"""What ``transformers`` has no counterpart for, against the formulas of albert_zh by hand."""

from typing import Any

import pytest
import torch
from torch.nn.functional import layer_norm

from zh_albert.errors import ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder

SIZES: dict[str, Any] = {
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 20,
}


def test_more_tokens_than_positions_are_refused_with_both_numbers() -> None:
    encoder = AlbertEncoder(AlbertConfig(**SIZES, vocab_size=9, max_position_embeddings=4))
    ids = torch.ones(1, 5, dtype=torch.long)

    with pytest.raises(ConfigError, match=r"5 tokens.*max_position_embeddings is 4"):
        encoder(ids, torch.zeros_like(ids), ids > 0)


def test_initial_weights_have_the_configured_spread() -> None:
    torch.manual_seed(0)
    encoder = AlbertEncoder(AlbertConfig(**SIZES, vocab_size=500, initializer_range=0.05))
    table = encoder.embeddings.word.weight

    assert table[1:].std().item() == pytest.approx(0.05, rel=0.05)
    assert not table[0].any()
    assert not encoder.pooler.bias.any()
    assert (encoder.attention[0].norm.weight == 1).all()


SMALL: dict[str, Any] = {
    "vocab_size": 30,
    "embedding_size": 5,
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 11,
}

IDS = torch.tensor([[3, 7, 29]])

TYPES = torch.tensor([[0, 1, 1]])


def test_pre_norm_normalises_what_goes_in_and_nothing_after_the_last_layer() -> None:
    torch.manual_seed(0)
    encoder = AlbertEncoder(AlbertConfig(**SMALL, norm_position="pre", initializer_range=0.5))
    output = encoder(IDS, TYPES, torch.ones(1, 3, dtype=torch.bool), return_states=True)
    attention, ffn = encoder.attention[0], encoder.ffn[0]

    assert output.states is not None
    hidden = output.states[1]
    source = layer_norm(hidden, (8,), eps=1e-12)
    q, k, v = (
        linear(source).view(1, 3, 2, 4).transpose(1, 2)
        for linear in (attention.query, attention.key, attention.value)
    )
    heads = (q @ k.transpose(-1, -2) / 2).softmax(-1) @ v
    hidden = hidden + attention.dense(heads.transpose(1, 2).reshape(1, 3, 8))
    source = layer_norm(hidden, (8,), eps=1e-12)
    hidden = hidden + ffn.down(ffn.activation(ffn.up(source)))
    torch.testing.assert_close(output.hidden, hidden)


@pytest.mark.parametrize("return_attention", [False, True])
def test_dropout_acts_in_training_only(return_attention: bool) -> None:
    torch.manual_seed(0)
    config = AlbertConfig(**SMALL, hidden_dropout_prob=0.5, attention_probs_dropout_prob=0.5)
    encoder = AlbertEncoder(config)
    mask = torch.ones(1, 3, dtype=torch.bool)

    def run() -> torch.Tensor:
        return encoder(IDS, TYPES, mask, return_attention=return_attention).hidden

    assert not torch.equal(run(), run())
    encoder.eval()
    assert torch.equal(run(), run())
