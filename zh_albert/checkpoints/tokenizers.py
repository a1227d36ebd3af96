"""Tokenizers of model folders, checked against the weights."""

from __future__ import annotations

from pathlib import Path

from zh_albert.errors import CheckpointError
from zh_albert.model.config import AlbertConfig
from zh_albert.tokenization.tokenizer import Tokenizer, load_tokenizer


def matching_tokenizer(folder: Path, config: AlbertConfig) -> Tokenizer:
    """Read a folder's tokenizer.

    Raises:
        CheckpointError: If its vocabulary has another size than the model: its rows would silently
            stand for other tokens.
    """
    tokenizer = load_tokenizer(folder)
    if tokenizer.vocab_size != config.vocab_size:
        raise CheckpointError(
            f"{folder}: the vocabulary file has {tokenizer.vocab_size} rows, the model "
            f"{config.vocab_size}: it is truncated or belongs to another model; download the "
            "folder again"
        )
    return tokenizer
