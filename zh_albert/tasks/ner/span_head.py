"""The span head: starts and ends of entities for each type."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from zh_albert.tasks.ner.alignment import ScoredSpan, SkippedEntities, TokenSpan, without_overlaps
from zh_albert.tasks.ner.heads import Passage
from zh_albert.tasks.ner.parts import in_parts
from zh_albert.tasks.tagging.merging import decided_scores, deciding, merged, whole


class SpanHead:
    """Starts and ends of each type: entities of different types may overlap.

    A start is joined with the nearest end at or after it, unless there is another start of the type
    in between. The score is the product of both probabilities.
    """

    flat = False

    def __init__(self, num_types: int) -> None:
        self._num_types = num_types

    def teachable(self, passage: Passage, skipped: SkippedEntities) -> list[TokenSpan]:
        """Keep the longest of entities of one type that overlap."""
        by_type: dict[int, list[TokenSpan]] = {}
        for span in passage.spans:
            by_type.setdefault(span.type_id, []).append(span)
        kept = [span for same in by_type.values() for span in without_overlaps(same, skipped)]
        return sorted(kept)

    def targets(self, passages: Sequence[Passage], length: int) -> dict[str, Tensor]:
        """Return 1 where an entity starts or ends, and the window that decides each token."""
        borders = []
        for passage in passages:
            one = torch.zeros(passage.tokens, self._num_types, 2)
            for first, last, type_id in passage.spans:
                one[first, type_id, 0] = one[last, type_id, 1] = 1.0
            borders.append(one)
        return {
            "borders": pad_sequence(borders, batch_first=True),
            **deciding([p.text for p in passages], length),
        }

    def loss(self, scores: Tensor, inputs: dict[str, Tensor]) -> Tensor:
        """Return the binary cross-entropy, in nats, summed over tokens, types and both borders."""
        logits, mask = merged(scores, inputs)
        return F.binary_cross_entropy_with_logits(
            logits[mask], inputs["borders"][mask], reduction="sum"
        )

    def weight(self, passages: Sequence[Passage]) -> float:
        """Count tokens."""
        return float(sum(passage.tokens for passage in passages))

    def chance_loss(self, passages: Sequence[Passage]) -> float:
        """Return the summed entropies of having a start, and an end, of each type."""
        total = sum(passage.tokens for passage in passages)
        counts = Counter(span.type_id for passage in passages for span in passage.spans)
        shares = [count / total for count in counts.values() if count < total]
        return -2 * sum(p * math.log(p) + (1 - p) * math.log(1 - p) for p in shares)

    piece = staticmethod(decided_scores)

    def entities(
        self, texts: Sequence[Sequence[Tensor]], breaks: Sequence[Sequence[int]]
    ) -> list[list[ScoredSpan]]:
        """Join starts with ends."""
        scores = whole(texts)
        return in_parts(scores, breaks, lambda ps: [self._joined(part.sigmoid()) for part in ps])

    def _joined(self, probabilities: Tensor) -> list[ScoredSpan]:
        borders: dict[tuple[int, int], list[int]] = {}
        for token, type_id, border in (probabilities > 0.5).nonzero().tolist():
            borders.setdefault((type_id, border), []).append(token)
        spans = []
        for type_id in range(self._num_types):
            starts, ends = borders.get((type_id, 0), []), borders.get((type_id, 1), [])
            for start, following in zip(starts, [*starts[1:], len(probabilities)], strict=False):
                place = bisect_left(ends, start)
                if place < len(ends) and ends[place] < following:
                    end = ends[place]
                    both = probabilities[start, type_id, 0] * probabilities[end, type_id, 1]
                    spans.append(ScoredSpan(start, end, type_id, both.item()))
        return spans
