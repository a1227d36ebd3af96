"""Texts in windows."""

from __future__ import annotations

from zh_albert.tasks.windows import (
    EncodedText,
    WindowConfig,
    encode_windows,
)
from zh_albert.tokenization.tokenizer import default_tokenizer


def encode(texts: list[str], max_length: int = 16) -> list[EncodedText]:
    tokenizer = default_tokenizer()
    window = WindowConfig(max_length=max_length, stride=max_length // 4)
    return [
        encode_windows(text, tokenizer.special, window) for text in tokenizer.encode_batch(texts)
    ]
