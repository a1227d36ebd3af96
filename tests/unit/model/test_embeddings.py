"""Embeddings in albert_zh's layout, against its formula by hand."""

from typing import Any

import torch
from torch.nn.functional import layer_norm

from zh_albert.model.config import AlbertConfig
from zh_albert.model.embeddings import FactorizedEmbeddings

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


def test_brightmart_adds_positions_and_types_after_an_unbiased_projection() -> None:
    torch.manual_seed(0)
    embeddings = FactorizedEmbeddings(AlbertConfig(**SMALL, embedding_layout="brightmart"))
    words = embeddings.word.weight[IDS[0]] @ embeddings.projection.weight.T
    added = words + embeddings.position.weight[:3] + embeddings.token_type.weight[TYPES[0]]

    assert embeddings.projection.bias is None
    torch.testing.assert_close(embeddings(IDS, TYPES)[0], layer_norm(added, (8,), eps=1e-12))
