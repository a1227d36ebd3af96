"""Plain weights of networks whose weights were computed."""

from __future__ import annotations

import copy

import torch
from torch import nn

from tests.helpers.small_networks import SmallClassifier, small_batch
from zh_albert.model.baking import bake, baked_state
from zh_albert.transforms.gates import Gate, gated_parts
from zh_albert.transforms.masks import Mask
from zh_albert.transforms.parametrized import matrices, transformed
from zh_albert.transforms.quantization import FakeQuantization


def network() -> SmallClassifier:
    """Return a classifier, in evaluation mode, with several transforms on some weights."""
    made = SmallClassifier().eval()
    for _, module in matrices(made):
        weight: torch.Tensor = module.weight  # type: ignore[assignment]
        transformed(module, Mask(weight.abs() > 0.1))
        transformed(module, FakeQuantization(4, None))
    for part in gated_parts(made, ["heads"]):
        transformed(part.module, Gate(torch.tensor([0.0, 1.0, 0.5]), part.width))
    return made.eval()


def test_a_baked_network_is_plain_and_computes_the_same() -> None:
    made, batch, plain = network(), small_batch(), SmallClassifier()
    wanted = made(**batch)
    bake(made)
    assert made.state_dict().keys() == plain.state_dict().keys()
    assert {n for n, _ in made.named_parameters()} == {n for n, _ in plain.named_parameters()}
    assert torch.equal(made(**batch), wanted)
    assert type(made.encoder.ffn[0].up) is nn.Linear
    plain.load_state_dict(made.state_dict())
    assert torch.equal(plain.eval()(**batch), wanted)
    bake(made)  # again: nothing
    assert torch.equal(made(**batch), wanted)


def test_the_baked_state_is_that_of_the_baked_network() -> None:
    made = network()
    before = list(made.state_dict())
    state, baked = baked_state(made), copy.deepcopy(made)
    bake(baked)
    assert list(made.state_dict()) == before
    assert state.keys() == baked.state_dict().keys()
    assert all(torch.equal(state[name], value) for name, value in baked.state_dict().items())
    assert not any(value.requires_grad for value in state.values())


def test_a_plain_network_is_its_own_state() -> None:
    plain = SmallClassifier()
    state = baked_state(plain)
    assert state.keys() == plain.state_dict().keys()
    assert all(torch.equal(state[name], value) for name, value in plain.state_dict().items())
