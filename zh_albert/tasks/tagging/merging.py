"""Merging of token scores from the windows of a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from zh_albert.model.config import AlbertConfig
from zh_albert.runtimes.selection import LazyRuntime
from zh_albert.tasks.batched_inference import text_outputs
from zh_albert.tasks.window_ownership import decided_by, tokens_in
from zh_albert.tasks.windows import EncodedText, WindowConfig, encode_windows
from zh_albert.tokenization.encoding import Encoding
from zh_albert.tokenization.tokenizer import Tokenizer

Piece = Callable[[Tensor, range, range], Any]
"""A function from a window's scores, its tokens and the range it decides to the part kept."""


class EncodedPassage(NamedTuple):
    """The tokens and the windows of a text, and the tokens before which it breaks off."""

    encoding: Encoding
    text: EncodedText
    breaks: tuple[int, ...] = ()


def encode_passages(
    texts: Sequence[str], tokenizer: Tokenizer, window: WindowConfig
) -> list[EncodedPassage]:
    """Tokenize texts and cut them into windows."""
    special = tokenizer.special
    return [
        EncodedPassage(encoding, encode_windows(encoding, special, window))
        for encoding in tokenizer.encode_batch(texts)
    ]


def deciding(texts: Sequence[EncodedText], length: int) -> dict[str, Tensor]:
    """Mark the positions of a batch's windows that decide a token, and count each text's tokens.

    Returns:
        ``decided``: Shape: (windows, length). ``lengths``: Shape: (texts,).
    """
    rows = []
    for text in texts:
        for part, decided in zip(text.parts, decided_by(text.parts), strict=True):
            row = torch.zeros(length, dtype=torch.bool)
            row[positions(part, decided)] = True
            rows.append(row)
    lengths = torch.tensor([text.text_tokens for text in texts])
    return {"decided": torch.stack(rows), "lengths": lengths}


def merged(scores: Tensor, inputs: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    """Collect each text's tokens, each from the window that decides it.

    Returns:
        Scores. Shape: (texts, tokens, …). True where a text has a token. Shape: (texts, tokens).
    """
    lengths = inputs["lengths"]
    rows = torch.split(scores.float()[inputs["decided"]], lengths.tolist())
    joined = pad_sequence(list(rows), batch_first=True)
    return joined, torch.arange(joined.shape[1], device=joined.device) < lengths[:, None]


def positions(part: range, decided: range) -> slice:
    """Return the positions, after ``[CLS]``, of the tokens that a window decides."""
    tokens = tokens_in(decided)
    return slice(1 + tokens.start - part.start, 1 + tokens.stop - part.start)


def decided_scores(scores: Tensor, part: range, decided: range) -> Tensor:
    """Return the scores of the tokens that a window decides; a ``Piece``."""
    return scores[positions(part, decided)]


def pieces_of(
    texts: Sequence[EncodedText],
    runtime: LazyRuntime,
    config: AlbertConfig,
    *,
    piece: Piece = decided_scores,
) -> list[list[Any]]:
    """Run a network over texts and return the piece of each window of each text.

    Args:
        texts: Any number of windows each.
        runtime: Runs the network.
        config: The encoder's.
        piece: Extracts the part to keep from a window's scores, on the CPU, padding included.
    """
    decided = [decided_by(text.parts) for text in texts]
    pieces: list[list[Any]] = [[None] * len(text.windows) for text in texts]
    with torch.inference_mode():
        for places, scores in text_outputs(texts, runtime, config):
            for row, (t, w) in zip(torch.from_numpy(scores), places, strict=True):
                pieces[t][w] = piece(row, texts[t].parts[w], decided[t][w])
    return pieces


def whole(pieces: Sequence[Sequence[Tensor]]) -> list[Tensor]:
    """Concatenate the pieces of each text's windows. Shape of each: (tokens, …)."""
    return [torch.cat(list(parts)) for parts in pieces]
