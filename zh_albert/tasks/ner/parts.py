"""Texts taken apart at their breaks, and their entities put together again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from zh_albert.tasks.ner.alignment import ScoredSpan


def in_parts(
    scores: Sequence[Tensor],
    breaks: Sequence[Sequence[int]],
    entities_of: Callable[[Sequence[Tensor]], list[list[ScoredSpan]]],
) -> list[list[ScoredSpan]]:
    """Find the entities of each part of each text; return those of the texts.

    Args:
        scores: Of each text. Shape of each: (tokens, …).
        breaks: The tokens before which each text breaks off.
        entities_of: The scores of parts → their entities, counted from the part's first token.
    """
    if not any(breaks):
        return entities_of(scores)
    starts = [[0, *places] for places in breaks]
    parts = [
        part
        for one, places in zip(scores, breaks, strict=True)
        for part in one.tensor_split(places)
    ]
    found = iter(entities_of(parts))
    return [[_moved(span, start) for start in places for span in next(found)] for places in starts]


def without_crossing(spans: Sequence[ScoredSpan], breaks: Sequence[int]) -> list[ScoredSpan]:
    """Leave out entities that go on behind a break."""
    return [s for s in spans if not any(s.first < token <= s.last for token in breaks)]


def _moved(span: ScoredSpan, by: int) -> ScoredSpan:
    return span._replace(first=span.first + by, last=span.last + by)
