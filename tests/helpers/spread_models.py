"""A small encoder's sizes and inputs, and weights spread so far that a slip changes outputs."""

from __future__ import annotations

from typing import Any

import torch

from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import init_weights

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"房间很干净,服务也好。"]
CONFIG = AlbertConfig(
    vocab_size=len(WORDS),
    embedding_size=6,
    hidden_size=12,
    num_hidden_layers=3,
    num_attention_heads=2,
    intermediate_size=19,
    max_position_embeddings=16,
    initializer_range=0.3,
)
FILES = {"vocab.txt": "".join(f"{word}\n" for word in WORDS), "README.md": "# card\n"}
IDS = torch.tensor([[2, 5, 6, 7, 3, 8, 9, 3], [2, 10, 11, 3, 0, 0, 0, 0]])
TYPES = torch.tensor([[0, 0, 0, 0, 0, 1, 1, 1], [0] * 8])
MASK = IDS != 0


def spread(model: torch.nn.Module) -> Any:
    torch.manual_seed(0)
    init_weights(model, 0.3)
    return model.eval()
