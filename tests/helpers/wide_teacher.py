"""A teacher with random weights, and texts for it to read."""

from __future__ import annotations

import torch
from torch import Tensor

from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder

WIDE = AlbertConfig(
    vocab_size=50,
    embedding_size=24,
    hidden_size=24,
    num_hidden_layers=4,
    num_attention_heads=4,
    intermediate_size=32,
    max_position_embeddings=16,
    hidden_act="gelu",
    initializer_range=0.15,
    sharing="none",
)
SHARES = torch.full((50,), 1 / 50)


def teacher(config: AlbertConfig = WIDE) -> AlbertEncoder:
    torch.manual_seed(0)
    encoder = AlbertEncoder(config).eval()
    with torch.no_grad():  # as ``zh_albert.checkpoints.foreign`` makes them: no projection
        encoder.embeddings.projection.weight.copy_(torch.eye(24))
        for block in (*encoder.attention, *encoder.ffn):  # trained norms and biases are not 1 and 0
            for _, parameter in block.named_parameters():
                if parameter.ndim == 1:
                    parameter.add_(0.2 * torch.randn(parameter.shape))
    return encoder


def texts(count: int = 64) -> Tensor:
    return torch.randint(5, 50, (count, 12), generator=torch.Generator().manual_seed(1))
