"""The loss of masked LM and sentence order."""

from __future__ import annotations

import pytest
import torch

from zh_albert.model.config import AlbertConfig
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.pretraining.objective import evaluate, pretraining_loss
from zh_albert.training.loop import Batch

SIZES = AlbertConfig(
    vocab_size=20,
    embedding_size=8,
    hidden_size=16,
    num_hidden_layers=1,
    num_attention_heads=2,
    intermediate_size=16,
)


@pytest.mark.parametrize("order", [[-1, -1], [-1, 1]])
def test_every_parameter_has_a_gradient_with_and_without_pairs(order: list[int]) -> None:
    # Several processes wait for the gradients of all of them.
    torch.manual_seed(0)
    model = AlbertForPretraining(SIZES)
    token_ids = torch.tensor([[1, 2, 3], [1, 4, 5]])
    inputs = {
        "token_ids": token_ids,
        "type_ids": torch.zeros_like(token_ids),
        "mask": token_ids > 0,
        "positions": torch.tensor([[0, 1], [1, 2]]),
        "labels": torch.tensor([2, 5]),
        "order": torch.tensor(order),
    }
    scores = evaluate(model, [Batch(inputs, 2, 6)])
    assert ("order_accuracy" in scores) == (max(order) >= 0)  # not 0 where nothing was asked
    loss, measured = pretraining_loss(model, inputs)
    loss.backward()
    assert [name for name, one in model.named_parameters() if one.grad is None] == []
    assert ("order_accuracy" in measured) == (max(order) >= 0)
    if max(order) < 0:
        assert loss.item() == measured["masked_loss"][0].item()
