"""Weights that are computed from others in training."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tests.helpers.small_networks import SmallClassifier, small_batch
from zh_albert.training.loop import LossOutput
from zh_albert.transforms.parametrized import Transforms, matrices, transformed


class Counting(nn.Module):
    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor, self.calls = factor, 0

    def forward(self, weight: Tensor) -> Tensor:
        self.calls += 1
        return self.factor * weight


def test_matrices_are_those_of_the_blocks_the_projection_and_the_table() -> None:
    network = SmallClassifier(num_hidden_layers=1)
    names = [name for name, _ in matrices(network)]
    block = ["attention.0.query", "attention.0.key", "attention.0.value", "attention.0.dense"]
    expected = {*block, "ffn.0.up", "ffn.0.down", "embeddings.projection", "embeddings.word"}
    assert set(names) == expected
    assert {name for name, _ in matrices(network.encoder, table=False)} == expected - {
        "embeddings.word"
    }


def test_transforms_add_up() -> None:
    module = nn.Linear(2, 2)
    weight = module.weight.detach().clone()
    transformed(module, Counting(2.0))
    transformed(module, Counting(3.0))
    assert torch.equal(module.weight, 6 * weight)


def test_a_shared_block_computes_its_weight_once_in_a_pass() -> None:
    network, counting = SmallClassifier(sharing="all"), Counting(1.0)
    transformed(network.encoder.ffn[0].up, counting)

    def loss_of(module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
        return LossOutput(module(*inputs.values()).square().sum())

    counting.calls = 0
    plain = SmallClassifier(sharing="all")
    for _ in range(2):
        loss = Transforms().objective(loss_of)(network, small_batch()).loss
    assert counting.calls == 2
    loss.backward()
    expected = loss_of(plain, small_batch()).loss
    expected.backward()
    torch.testing.assert_close(loss, expected)
    stored = network.encoder.ffn[0].up.parametrizations.weight.original  # type: ignore[union-attr]
    torch.testing.assert_close(stored.grad, plain.encoder.ffn[0].up.weight.grad)


def test_a_block_that_runs_first_without_gradients_still_learns() -> None:
    network = SmallClassifier(sharing="all")
    up = network.encoder.ffn[0].up
    transformed(up, Counting(1.0))

    def loss_of(module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
        with torch.no_grad():
            module(*inputs.values())
        return LossOutput(module(*inputs.values()).square().sum())

    Transforms().objective(loss_of)(network, small_batch()).loss.backward()
    assert up.parametrizations.weight.original.grad.any()  # type: ignore[union-attr]
