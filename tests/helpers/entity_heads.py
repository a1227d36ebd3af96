"""Entity heads without a network: texts of windows, and scores that are sure of the answer."""

from __future__ import annotations

from typing import Any

import torch

from zh_albert.model.config import AlbertConfig
from zh_albert.model.token_tagger import TokenTagger
from zh_albert.tasks.ner.alignment import TokenSpan
from zh_albert.tasks.ner.global_pointer_head import GlobalPointerHead
from zh_albert.tasks.ner.heads import Passage
from zh_albert.tasks.ner.networks import Head, build_tagger
from zh_albert.tasks.ner.span_head import SpanHead
from zh_albert.tasks.ner.tag_head import TagHead
from zh_albert.tasks.ner.tags import TagSet
from zh_albert.tasks.window_ownership import decided_by
from zh_albert.tasks.windows import EncodedText, WindowConfig, encode_windows
from zh_albert.tokenization.encoding import Encoding, SpecialIds

TAGS = TagSet.of(["地", "人"])
SPECIAL = SpecialIds(pad=0, unk=1, cls=2, sep=3, mask=4)
CONFIG = AlbertConfig(
    vocab_size=20,
    embedding_size=4,
    hidden_size=8,
    num_hidden_layers=1,
    num_attention_heads=2,
    intermediate_size=8,
    max_position_embeddings=32,
)

# Nested, and of two types; "flat" of them are those that every head can mark.
SPANS = [TokenSpan(0, 0, 1), TokenSpan(2, 5, 0), TokenSpan(7, 8, 1), TokenSpan(13, 16, 0)]
NESTED = [*SPANS, TokenSpan(2, 9, 1), TokenSpan(3, 4, 1), TokenSpan(3, 3, 0)]


def read(tokens: int, *, max_length: int = 12, stride: int = 6) -> EncodedText:
    window = WindowConfig(max_length=max_length, stride=stride)
    return encode_windows(Encoding([7] * tokens, []), SPECIAL, window)


def head_of(name: Head, tags: TagSet = TAGS) -> Any:
    network = build_tagger(CONFIG, tags, name)
    if isinstance(network, TokenTagger):
        return TagHead(network, tags)
    return SpanHead(2) if name == "span" else GlobalPointerHead(2)


def perfect_scores(name: Head, passage: Passage, length: int) -> torch.Tensor:
    """What a network gives that knows the answer and is sure of it, in every window."""
    rows = []
    for part in passage.text.parts:
        if name == "global_pointer":
            scores = torch.full((2, length, length), -20.0)
            for first, last, kind in passage.spans:
                if first in part and last in part:
                    scores[kind, 1 + first - part.start, 1 + last - part.start] = 20.0
        elif name == "span":
            scores = torch.full((length, 2, 2), -20.0)
            for first, last, kind in passage.spans:
                for token, border in ((first, 0), (last, 1)):
                    if token in part:
                        scores[1 + token - part.start, kind, border] = 20.0
        else:
            scores = torch.zeros(length, len(TAGS.names))
            tags = TAGS.of_spans(passage.spans, passage.tokens)
            for token in part:
                scores[1 + token - part.start, tags[token]] = 20.0
        rows.append(scores)
    return torch.stack(rows)


def answer(head: Any, text: EncodedText, scores: torch.Tensor) -> list[Any]:
    decided = decided_by(text.parts)
    pieces = [head.piece(*row) for row in zip(scores, text.parts, decided, strict=True)]
    return head.entities([pieces], [()])[0]
