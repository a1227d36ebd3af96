"""Networks of whole texts."""

from typing import Any

import pytest
import torch

from zh_albert.errors import ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.heads import MeanEncoder, SequenceClassifier

SIZES: dict[str, Any] = {
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 20,
}


@pytest.mark.parametrize("wrong", [{"num_labels": 0}, {"num_labels": 2, "pooling": "max"}])
def test_a_classifier_that_cannot_work_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="must be"):
        SequenceClassifier(AlbertConfig(**SIZES), **wrong)


def test_the_mean_trains_every_parameter_that_it_trains() -> None:
    sizes = AlbertConfig(
        vocab_size=9,
        embedding_size=8,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
    )
    network = MeanEncoder(sizes)
    token_ids = torch.tensor([[1, 2, 3]])
    network(token_ids, torch.zeros_like(token_ids), token_ids > 0).sum().backward()
    trained = {name for name, one in network.named_parameters() if one.requires_grad}
    # Several processes wait for the gradients of all of them.
    assert trained == {name for name, one in network.named_parameters() if one.grad is not None}
