"""An encoder small enough that a test can train it in a second."""

from __future__ import annotations

from pathlib import Path

import torch

from zh_albert.checkpoints.store import save_model
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.tokenization.tokenizer import default_tokenizer


def save_micro_encoder(folder: Path) -> Path:
    """Write the model folder of an encoder with random weights, wide enough to learn at once."""
    tokenizer = default_tokenizer()
    config = AlbertConfig(
        vocab_size=tokenizer.vocab_size,
        embedding_size=16,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        initializer_range=0.15,
        classifier_dropout_prob=0.0,
    )
    torch.manual_seed(0)
    save_model(
        folder, model=AlbertEncoder(config), config=config, files=tokenizer.save_files(), task={}
    )
    return folder
