"""What ``transformers`` has no counterpart for, against the formulas of albert_zh by hand."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.nn.functional import layer_norm

from zh_albert.errors import ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.layer import AttentionBlock, FeedForwardBlock
from zh_albert.model.sharing import LayerBlocks, sharing_plan

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


PLAN_SIZES: dict[str, Any] = {
    "vocab_size": 30,
    "embedding_size": 5,
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 11,
}
PLAN_IDS = torch.tensor([[3, 7, 29]])
PLAN_TYPES = torch.tensor([[0, 1, 1]])
PLANS = [
    [LayerBlocks(0, 0), LayerBlocks(1, 1)],  # its own
    [LayerBlocks(1, 1), LayerBlocks(0, 0)],
    [LayerBlocks(0, 0), LayerBlocks(0, 0)],
    [LayerBlocks(0, 1), LayerBlocks(1, 0), LayerBlocks(1, 1)],
    [LayerBlocks(1, 0)],
]


@pytest.mark.parametrize("plan", PLANS)
def test_a_given_plan_runs_as_the_encoder_with_that_plan_does(plan: list[LayerBlocks]) -> None:
    torch.manual_seed(0)
    config = AlbertConfig(**PLAN_SIZES, sharing="none", initializer_range=0.5)
    encoder = AlbertEncoder(config).eval()
    mask = torch.tensor([[True, True, False]])
    given = encoder(
        PLAN_IDS, PLAN_TYPES, mask, plan=plan, return_states=True, return_attention=True
    )

    assert encoder.plan == sharing_plan("none", 2)  # as it was
    encoder.plan = tuple(plan)
    own = encoder(PLAN_IDS, PLAN_TYPES, mask, return_states=True, return_attention=True)
    assert torch.equal(given.hidden, own.hidden)
    for found, expected in ((given.states, own.states), (given.attention, own.attention)):
        assert len(found) == len(expected)
        assert all(map(torch.equal, found, expected))
    assert len(given.states) == len(plan) + 1
    some = encoder.encode_some(PLAN_IDS, PLAN_TYPES, mask, torch.tensor([[2, 0]]))
    torch.testing.assert_close(some, given.hidden[:, [2, 0]])


def test_plans_of_other_blocks_give_other_outputs() -> None:
    torch.manual_seed(0)
    encoder = AlbertEncoder(
        AlbertConfig(**PLAN_SIZES, sharing="none", initializer_range=0.5)
    ).eval()
    mask = torch.ones(1, 3, dtype=torch.bool)
    plain = encoder(PLAN_IDS, PLAN_TYPES, mask).hidden
    found = [encoder(PLAN_IDS, PLAN_TYPES, mask, plan=plan).hidden for plan in PLANS]
    assert torch.equal(found[0], plain)
    assert not any(torch.allclose(one, plain, atol=1e-3) for one in found[1:])


def test_a_plan_of_a_shared_block_repeats_it() -> None:
    torch.manual_seed(0)
    encoder = AlbertEncoder(AlbertConfig(**PLAN_SIZES, initializer_range=0.5)).eval()
    mask = torch.ones(1, 3, dtype=torch.bool)
    states = encoder(
        PLAN_IDS, PLAN_TYPES, mask, plan=[LayerBlocks(0, 0)] * 4, return_states=True
    ).states
    usual = encoder(PLAN_IDS, PLAN_TYPES, mask, return_states=True).states
    assert len(states) == 5
    assert all(map(torch.equal, states, usual))  # its first two layers


@pytest.mark.parametrize("return_attention", [False, True])
def test_a_pruned_encoder_gives_what_the_whole_one_gives_without_those_parts(
    return_attention: bool,
) -> None:
    """Heads and neurons that write nothing can be cut out."""
    torch.manual_seed(0)
    config = AlbertConfig(**PLAN_SIZES, sharing="none", initializer_range=0.5)
    whole = AlbertEncoder(config).eval()
    with torch.no_grad():
        whole.attention[0].dense.weight[:, :4] = 0  # the first of two heads
        whole.ffn[1].down.weight[:, 3:] = 0
    fewer = AlbertEncoder(
        replace(config, head_size=4, block_heads=(1, 2), block_neurons=(11, 3))
    ).eval()
    state = whole.state_dict()
    for name in ("query", "key", "value"):
        for kind in ("weight", "bias"):
            state[f"attention.0.{name}.{kind}"] = state[f"attention.0.{name}.{kind}"][4:]
    state["attention.0.dense.weight"] = state["attention.0.dense.weight"][:, 4:]
    for name in ("up.weight", "up.bias"):
        state[f"ffn.1.{name}"] = state[f"ffn.1.{name}"][:3]
    state["ffn.1.down.weight"] = state["ffn.1.down.weight"][:, :3]
    fewer.load_state_dict(state)
    mask = torch.tensor([[True, True, False]])

    found, expected = (
        one(PLAN_IDS, PLAN_TYPES, mask, return_attention=return_attention) for one in (fewer, whole)
    )
    torch.testing.assert_close(found.hidden, expected.hidden)
    if found.attention:
        assert [part.shape[1] for part in found.attention] == [1, 2]


def test_other_layers_run_in_training_and_never_in_evaluation() -> None:
    torch.manual_seed(0)
    config = AlbertConfig(**PLAN_SIZES, sharing="none", initializer_range=0.5)
    encoder = AlbertEncoder(config)
    mask = torch.tensor([[True, True, False]])
    columns = torch.tensor([[2, 0]])
    names = [*encoder.state_dict()]
    plain = encoder(PLAN_IDS, PLAN_TYPES, mask).hidden
    own = [(encoder.attention[n], encoder.ffn[n]) for n in range(2)]
    other = (AttentionBlock(config), FeedForwardBlock(config))

    def run() -> torch.Tensor:
        hidden = encoder(PLAN_IDS, PLAN_TYPES, mask).hidden
        some = encoder.encode_some(PLAN_IDS, PLAN_TYPES, mask, columns)
        torch.testing.assert_close(some, hidden[:, [2, 0]])
        return hidden

    encoder.layers_in_training = own[:1]  # one layer dropped
    expected = encoder(PLAN_IDS, PLAN_TYPES, mask, plan=[LayerBlocks(0, 0)]).hidden
    assert torch.equal(run(), expected)
    encoder.layers_in_training = [other, own[1]]  # one of another encoder
    assert not torch.allclose(run(), plain)
    assert [*encoder.state_dict()] == names
    assert len([*encoder.parameters()]) == len(names)
    encoder.layers_in_training = []
    torch.testing.assert_close(run(), encoder.embeddings(PLAN_IDS, PLAN_TYPES))
    encoder.eval()
    assert torch.equal(run(), plain)
    encoder.train().layers_in_training = None
    assert torch.equal(run(), plain)
