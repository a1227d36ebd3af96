"""Conversion of entities between characters, for users, and tokens, for the network."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from zh_albert.tasks.ner.examples import EntitySpan


class TokenSpan(NamedTuple):
    """An entity in tokens: from token ``first`` to token ``last``, both of them in it."""

    first: int
    last: int
    type_id: int


class ScoredSpan(NamedTuple):
    """A predicted entity in tokens, with its probability."""

    first: int
    last: int
    type_id: int
    score: float


@dataclass
class SkippedEntities:
    """Counts of the entities of training texts that cannot be learned as they are.

    Attributes:
        entities: All of them.
        moved: Entities with an edge inside a token (part of an English word, for example) or on a
            character without a token; they are trained with the tokens' edges.
        unread: Dropped because they contain no token.
        overlapping: Dropped because the head cannot mark overlapping entities and keeps the longer
            one.
        too_long: Dropped because no window contains them completely.
    """

    entities: int = 0
    moved: int = 0
    unread: int = 0
    overlapping: int = 0
    too_long: int = 0

    def __str__(self) -> str:
        """Describe the counts that are not 0; empty if all entities are trained unchanged."""
        descriptions = {
            "taught with the edges of tokens, for theirs are inside one": self.moved,
            "left out, for no token stands for them": self.unread,
            "left out, for they overlap a longer one and this head marks only one": (
                self.overlapping
            ),
            "left out, for they are longer than a window can hold": self.too_long,
        }
        found = [f"{count:,} {what}" for what, count in descriptions.items() if count]
        return f"of {self.entities:,} training entities {'; '.join(found)}" if found else ""


def to_tokens(
    entities: Iterable[EntitySpan],
    offsets: Sequence[tuple[int, int]],
    type_ids: dict[str, int],
    skipped: SkippedEntities,
) -> list[TokenSpan]:
    """Return the token spans of entities: all tokens that share a character with one.

    Args:
        entities: Entities of one text.
        offsets: Of the text's tokens.
        type_ids: Type → number.
        skipped: Counts to increase.
    """
    starts, ends = [start for start, _ in offsets], [end for _, end in offsets]
    spans = []
    for start, end, name in entities:
        skipped.entities += 1
        first, last = bisect_right(ends, start), bisect_left(starts, end) - 1
        if first > last:
            skipped.unread += 1
            continue
        skipped.moved += (starts[first], ends[last]) != (start, end)
        spans.append(TokenSpan(first, last, type_ids[name]))
    return spans


def without_overlaps(spans: Iterable[TokenSpan], skipped: SkippedEntities) -> list[TokenSpan]:
    """Keep the longest of spans that overlap (the first of equals); sorted.

    >>> spans = [TokenSpan(0, 1, 0), TokenSpan(1, 5, 0), TokenSpan(6, 6, 1)]
    >>> [tuple(span) for span in without_overlaps(spans, SkippedEntities())]
    [(1, 5, 0), (6, 6, 1)]
    """
    kept: list[TokenSpan] = []
    covered: set[int] = set()
    for span in sorted(set(spans), key=lambda s: (s.first - s.last, s)):
        tokens = range(span.first, span.last + 1)
        if covered.isdisjoint(tokens):
            kept.append(span)
            covered.update(tokens)
        else:
            skipped.overlapping += 1
    return sorted(kept)


def to_characters(
    spans: Iterable[ScoredSpan], offsets: Sequence[tuple[int, int]], types: Sequence[str]
) -> list[tuple[EntitySpan, float]]:
    """Return predicted entities in characters of the user's own string, sorted, each one once.

    Args:
        spans: Of one text.
        offsets: Of the text's tokens.
        types: Names, in the order of their numbers.

    Returns:
        Entities with their probabilities.
    """
    best: dict[EntitySpan, float] = {}
    for first, last, type_id, score in spans:
        # A token may cover no character; the white space before the next one is not the entity's.
        start = next((a for a, b in offsets[first : last + 1] if a < b), offsets[first][0])
        end = offsets[last][1]
        if start < end:
            entity = EntitySpan(start, end, types[type_id])
            best[entity] = max(score, best.get(entity, 0.0))
    return sorted(best.items())


def flat(entities: Iterable[tuple[EntitySpan, float]]) -> list[tuple[EntitySpan, float]]:
    """Drop the less likely one of adjacent sorted entities that share a character.

    Entities that are adjacent in tokens can share a character that became several tokens.
    """
    kept: list[tuple[EntitySpan, float]] = []
    for entity, score in entities:
        if kept and entity.start < kept[-1][0].end:
            if score > kept[-1][1]:
                kept[-1] = (entity, score)
        else:
            kept.append((entity, score))
    return kept
