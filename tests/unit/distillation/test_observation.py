"""What is observed inside a network, against what the encoder returns itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from tests.helpers.small_networks import SIZES, SmallClassifier, small_batch, small_encoder
from zh_albert.distillation.observation import observing
from zh_albert.model.pretraining_heads import AlbertForPretraining

SHARED = [
    {"sharing": "none"},
    {"sharing": "all"},
    {"sharing": "all", "num_hidden_groups": 2},
    {"sharing": "attention"},
    {"sharing": "ffn"},
    {"plan": ((0, 1), (1, 0), (0, 1))},
]


@pytest.mark.parametrize("changes", SHARED)
def test_the_nth_state_is_the_nth_layers(changes: dict) -> None:
    encoder = small_encoder(**changes)
    batch = small_batch()
    with observing(encoder, {"states", "embeddings", "queries"}) as found:
        output = encoder(**batch, return_states=True)
    assert found.embeddings is not None
    first, *states = output.states
    assert torch.equal(found.embeddings, first)
    assert len(found.states) == 3
    assert all(torch.equal(one, other) for one, other in zip(found.states, states, strict=True))
    for layer, blocks in enumerate(encoder.plan):
        block, source = encoder.attention[blocks.attention], output.states[layer]
        for name in ("queries", "keys", "values"):
            linear = {"queries": block.query, "keys": block.key, "values": block.value}[name]
            assert torch.equal(getattr(found, name)[layer], linear(source))
    assert found.heads == [3, 3, 3]


def test_nothing_is_observed_afterwards_or_unasked() -> None:
    network = SmallClassifier()
    with observing(network, {"states"}) as found:
        plain = network(**small_batch())
    assert (found.embeddings, found.queries, found.masked) == (None, [], None)
    assert torch.equal(network(**small_batch()), plain)
    assert len(found.states) == 3
    modules = list(network.modules())
    assert not any(module._forward_hooks for module in modules)
    with pytest.raises(ZeroDivisionError), observing(network, {"states"}):
        1 / 0  # noqa: B018
    assert not any(module._forward_hooks for module in modules)


def test_gradients_flow_through_what_is_observed() -> None:
    network = SmallClassifier()
    with observing(network, {"states"}) as found:
        network(**small_batch())
    found.states[0].square().sum().backward()
    assert network.encoder.ffn[0].up.weight.grad is not None
    assert network.encoder.ffn[1].up.weight.grad is None


def test_masked_lm_logits_are_the_heads() -> None:
    torch.manual_seed(0)
    network = AlbertForPretraining(replace(SIZES))
    with observing(network, {"masked"}) as found:
        output = network(**small_batch(), positions=torch.tensor([[0, 2], [1, 1]]))
    assert found.masked is not None
    assert torch.equal(found.masked, output.masked)
