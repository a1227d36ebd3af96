"""The global pointer head, which scores pairs of tokens; entities may be nested."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from zh_albert.model.crf import FORBIDDEN
from zh_albert.tasks.ner.alignment import ScoredSpan, SkippedEntities, TokenSpan
from zh_albert.tasks.ner.heads import Passage
from zh_albert.tasks.ner.parts import without_crossing
from zh_albert.tasks.window_ownership import decided_by


class GlobalPointerHead:
    """Pairs of first and last token for each type; entities may be nested, but fit in a window.

    Among overlapping windows a pair belongs to the one with most of the text around it.
    """

    flat = False

    def __init__(self, num_types: int) -> None:
        self._num_types = num_types

    def teachable(self, passage: Passage, skipped: SkippedEntities) -> list[TokenSpan]:
        """Keep the entities that lie in the window that decides them."""
        parts = passage.text.parts
        kept = [
            span
            for part, decided in zip(parts, decided_by(parts), strict=True)
            for span in set(passage.spans)
            if span.first + span.last in decided and span.first in part and span.last in part
        ]
        skipped.too_long += len(set(passage.spans)) - len(kept)
        return sorted(kept)

    def targets(self, passages: Sequence[Passage], length: int) -> dict[str, Tensor]:
        """Return for each window which pairs it decides, and which of them are entities."""
        decided_rows, entity_rows = [], []
        for passage in passages:
            parts = passage.text.parts
            for part, decided in zip(parts, decided_by(parts), strict=True):
                entities = torch.zeros(self._num_types, length, length, dtype=torch.bool)
                for first, last, type_id in passage.spans:
                    if first + last in decided:
                        entities[type_id, 1 + first - part.start, 1 + last - part.start] = True
                decided_rows.append(_decided_pairs(part, decided, length))
                entity_rows.append(entities)
        return {"decided": torch.stack(decided_rows), "entities": torch.stack(entity_rows)}

    def loss(self, scores: Tensor, inputs: dict[str, Tensor]) -> Tensor:
        """Return the multi-label loss, in nats, summed over windows, its mean over types.

        It pushes the scores of entities above 0 and those of all other pairs below: for each window
        and type, log(1 + sum exp(-entity)) + log(1 + sum exp(other)). Therefore the imbalance
        between few entities and many pairs needs no class weights.

        Source: Su et al. 2022 (arXiv:2208.02955), the ZLPR loss.
        """
        entities, decided = inputs["entities"], inputs["decided"][:, None]
        scores = scores.float()
        missed = (-scores).masked_fill(~entities, FORBIDDEN).flatten(2)
        wrong = scores.masked_fill(entities | ~decided, FORBIDDEN).flatten(2)
        zero = scores.new_zeros(*missed.shape[:2], 1)
        each = sum(torch.logsumexp(torch.cat([x, zero], dim=-1), dim=-1) for x in (missed, wrong))
        assert isinstance(each, Tensor)
        return each.mean(1).sum()

    def weight(self, passages: Sequence[Passage]) -> float:
        """Count windows."""
        return float(sum(len(passage.text.windows) for passage in passages))

    def chance_loss(self, passages: Sequence[Passage]) -> None:  # noqa: ARG002
        """Return None: the loss of guessing depends on the scale of the scores."""
        return

    def piece(self, scores: Tensor, part: range, decided: range) -> list[ScoredSpan]:
        """Return the entities this window decides; at most its tokens times the types."""
        length = scores.shape[-1]
        scores = scores.masked_fill(~_decided_pairs(part, decided, length), FORBIDDEN).flatten()
        best, places = scores.topk(min(self._num_types * len(part), len(scores)))
        spans = []
        for score, place in zip(best.sigmoid().tolist(), places.tolist(), strict=True):
            if score <= 0.5:
                break
            type_id, pair = divmod(place, length * length)
            first, last = divmod(pair, length)
            spans.append(ScoredSpan(first - 1 + part.start, last - 1 + part.start, type_id, score))
        return spans

    def entities(
        self, texts: Sequence[Sequence[list[ScoredSpan]]], breaks: Sequence[Sequence[int]]
    ) -> list[list[ScoredSpan]]:
        """Concatenate the entities of each text's windows."""
        return [
            without_crossing([span for piece in pieces for span in piece], places)
            for pieces, places in zip(texts, breaks, strict=True)
        ]


def _decided_pairs(part: range, decided: range, length: int) -> Tensor:
    """Return a mask of the position pairs that a window decides. Shape: (length, length)."""
    tokens = torch.arange(length) - 1 + part.start
    inside = (tokens >= part.start) & (tokens < part.stop)
    middle = tokens[:, None] + tokens
    chosen = (middle >= decided.start) & (middle < decided.stop) & inside[:, None] & inside
    return chosen.triu()
