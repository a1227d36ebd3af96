"""Training texts in tokens: their windows, and the entities that a head can mark."""

from __future__ import annotations

from collections.abc import Sequence

from zh_albert.tasks.ner.alignment import SkippedEntities, TokenSpan, to_tokens
from zh_albert.tasks.ner.examples import EntityExample
from zh_albert.tasks.ner.heads import Passage
from zh_albert.tasks.ner.tagger import TextTagger
from zh_albert.tasks.tagging.cuts import cuts, longest_part
from zh_albert.tasks.windows import encode_windows


def training_passages(
    tagger: TextTagger, examples: Sequence[EntityExample], *, batch_tokens: int
) -> tuple[list[Passage], SkippedEntities]:
    """Return the passages of all examples, and the counts of skipped entities.

    Texts whose windows exceed a batch are cut between entities, so that memory does not depend on
    the longest text; texts without tokens are left out.

    Args:
        tagger: Its tokenizer, windows, types and head are used.
        examples: Training examples.
        batch_tokens: Padded tokens of a batch.
    """
    window, skipped = tagger.window, SkippedEntities()
    limit = longest_part(window, batch_tokens)
    type_ids = {name: index for index, name in enumerate(tagger.labels)}
    passages = []
    encodings = tagger.tokenizer.encode_batch([example.text for example in examples])
    for example, encoding in zip(examples, encodings, strict=True):
        spans = to_tokens(example.entities, encoding.offsets, type_ids, skipped)
        skipped.too_long += len(spans)
        borders = [(span.first, span.last) for span in spans]
        for tokens in cuts(len(encoding), borders, limit):
            text = encode_windows(encoding.part(tokens), tagger.tokenizer.special, window)
            inside = [
                TokenSpan(span.first - tokens.start, span.last - tokens.start, span.type_id)
                for span in spans
                if span.first in tokens and span.last in tokens
            ]
            skipped.too_long -= len(inside)
            kept = tagger.head.teachable(Passage(text, inside), skipped)
            passages.append(Passage(text, kept))
    return passages, skipped
