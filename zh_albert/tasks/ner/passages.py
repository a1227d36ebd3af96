"""Training texts as the network is taught: tokens, windows, and the entities a head can mark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from zh_albert.tasks.ner.alignment import Losses, TokenSpan, to_tokens
from zh_albert.tasks.ner.examples import EntityExample
from zh_albert.tasks.ner.heads import Passage
from zh_albert.tasks.ner.tagger import TextTagger
from zh_albert.tasks.windows import encode_windows


def training_passages(
    tagger: TextTagger, examples: Sequence[EntityExample], *, batch_tokens: int
) -> tuple[list[Passage], Losses]:
    """Return the passages of all examples, and what became of their entities.

    Texts whose windows would overfill a batch are cut between entities, so that memory does not
    depend on the longest text; texts without a token are left out.

    Args:
        tagger: Its tokenizer, windows, types and head are used.
        examples: To learn from.
        batch_tokens: Padded tokens of a batch.
    """
    window, losses = tagger.window, Losses()
    room = window.max_length - 2
    limit = room + (room - window.stride) * (batch_tokens // window.max_length - 1)
    type_ids = {name: index for index, name in enumerate(tagger.labels)}
    passages = []
    encodings = tagger.tokenizer.encode_batch([example.text for example in examples])
    for example, encoding in zip(examples, encodings, strict=True):
        spans = to_tokens(example.entities, encoding.offsets, type_ids, losses)
        losses.too_long += len(spans)
        for tokens in cuts(len(encoding), spans, max(limit, room)):
            text = encode_windows(encoding.part(tokens), tagger.tokenizer.special, window)
            inside = [
                TokenSpan(span.first - tokens.start, span.last - tokens.start, span.type_id)
                for span in spans
                if span.first in tokens and span.last in tokens
            ]
            losses.too_long -= len(inside)
            kept = tagger.head.teachable(Passage(text, inside), losses)
            passages.append(Passage(text, kept))
    return passages, losses


def cuts(tokens: int, spans: Sequence[TokenSpan], limit: int) -> Iterator[range]:
    """Cut a text into ranges of at most ``limit`` tokens, between entities where that is possible.

    >>> list(cuts(10, [TokenSpan(3, 4, 0)], limit=4))
    [range(0, 3), range(3, 7), range(7, 10)]
    """
    start = 0
    while tokens - start > limit:
        cut = start + limit
        while crossing := [span.first for span in spans if span.first < cut <= span.last]:
            cut = min(crossing)
        if cut <= start:  # an entity longer than that: it is cut, and so not taught
            cut = start + limit
        yield range(start, cut)
        start = cut
    if tokens:
        yield range(start, tokens)
