"""BIOES tags: outside, or begin, inside, end or single of a type of entity.

Tag 0 is outside; type ``t`` has the four tags from ``1 + 4 * t``, in the order of ``PARTS``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from zh_albert.model.crf import Transitions, backward_scores, forward_scores
from zh_albert.tasks.ner.alignment import ScoredSpan, TokenSpan
from zh_albert.tasks.ner.parts import in_parts
from zh_albert.tasks.tagging.decoding import decoded

OUTSIDE = 0
PARTS = "BIES"
BEGIN, INSIDE, END, SINGLE = range(4)


def tag_of(type_id: int, part: int) -> int:
    """Return the number of a tag.

    >>> tag_of(2, SINGLE)
    12
    """
    return 1 + 4 * type_id + part


def num_tags(num_types: int) -> int:
    """Return how many tags there are."""
    return 1 + 4 * num_types


def legal_transitions(num_types: int) -> Transitions:
    """Return the legal first tags, transitions and last tags.

    An entity continues with its own type until its end tag.
    """
    tags = range(num_tags(num_types))
    parts = [None if tag == OUTSIDE else (tag - 1) % 4 for tag in tags]
    types = [(tag - 1) // 4 for tag in tags]
    starts = torch.tensor([part in (None, BEGIN, SINGLE) for part in parts])
    ends = torch.tensor([part in (None, END, SINGLE) for part in parts])
    goes_on = torch.tensor(
        [
            [
                types[a] == types[b] and parts[a] in (BEGIN, INSIDE) and parts[b] in (INSIDE, END)
                for b in tags
            ]
            for a in tags
        ]
    )
    return Transitions(start=starts, between=(ends[:, None] & starts) | goes_on, end=ends)


def tag_names(types: Sequence[str]) -> list[str]:
    """Return the names of the tags of types, in the order of their numbers.

    >>> tag_names(["人"])
    ['O', 'B-人', 'I-人', 'E-人', 'S-人']
    """
    return ["O", *(f"{part}-{name}" for name in types for part in PARTS)]


def tags_of(spans: Sequence[TokenSpan], tokens: int) -> list[int]:
    """Return the tag of each token; spans must not overlap."""
    tags = [OUTSIDE] * tokens
    for first, last, type_id in spans:
        if first == last:
            tags[first] = tag_of(type_id, SINGLE)
            continue
        tags[first], tags[last] = tag_of(type_id, BEGIN), tag_of(type_id, END)
        tags[first + 1 : last] = [tag_of(type_id, INSIDE)] * (last - first - 1)
    return tags


def spans_of(tags: Sequence[int]) -> Iterator[TokenSpan]:
    """Yield the entities that tags mark, in order; entities without begin or end are skipped."""
    begun, first = None, 0
    for token, tag in enumerate(tags):
        type_id, part = (None, None) if tag == OUTSIDE else divmod(tag - 1, 4)
        if part in (BEGIN, SINGLE):
            begun, first = type_id, token
        elif type_id != begun:
            begun = None
        if part in (END, SINGLE) and begun is not None:
            yield TokenSpan(first, token, begun)
        if part not in (BEGIN, INSIDE):
            begun = None


def best_spans(
    emissions: Sequence[Tensor], transitions: Transitions, breaks: Sequence[Sequence[int]]
) -> list[list[ScoredSpan]]:
    """Return the entities of each text, by the best legal tags.

    Each part of a text between two breaks is decoded for itself.

    An entity's score is its probability: the total probability of the legal tag sequences that
    contain it.

    Args:
        emissions: Of each text. Shape of each: (tokens, tags).
        transitions: Scores between tags.
        breaks: The tokens before which each text breaks off.
    """
    return in_parts(emissions, breaks, lambda parts: _best_spans(parts, transitions.exact()))


def _best_spans(emissions: Sequence[Tensor], transitions: Transitions) -> list[list[ScoredSpan]]:
    result: list[list[ScoredSpan]] = [[] for _ in emissions]
    for numbers, batch, mask, tags in decoded(emissions, transitions):
        found = (tags != OUTSIDE).any(1)
        rows = [number for number, has in zip(numbers, found.tolist(), strict=True) if has]
        scored = _scored_spans(batch[found], mask[found], transitions, tags[found])
        for number, entities in zip(rows, scored, strict=True):
            result[number] = entities
    return result


def _scored_spans(
    emissions: Tensor, mask: Tensor, transitions: Transitions, tags: Tensor
) -> list[list[ScoredSpan]]:
    """Return the entities that tags mark, each with its probability; see ``best_spans``.

    Args:
        emissions: Of one text or more. Shape: (texts, length, tags).
        mask: True for tokens, then padding. Shape: (texts, length).
        transitions: Their scores.
        tags: The best of each text, whose transitions are legal. Shape: (texts, length).
    """
    texts = [list(spans_of(row)) for row in tags.tolist()]
    found = [(row, *span[:2]) for row, spans in enumerate(texts) for span in spans]
    if not found:
        return [[] for _ in texts]
    rows, firsts, lasts = torch.tensor(found).T
    before = forward_scores(emissions, mask, transitions)
    after = backward_scores(emissions, mask, transitions)
    totals = torch.logsumexp(before[:, -1] + transitions.end, dim=-1)
    # Score that each token adds to its text's path; the tags of an entity are part of that path.
    steps = emissions.gather(2, tags[..., None]).squeeze(2)
    steps[:, 1:] += transitions.between[tags[:, :-1], tags[:, 1:]]
    path = steps.cumsum(1)
    logs = before[rows, firsts, tags[rows, firsts]] + after[rows, lasts, tags[rows, lasts]]
    logs += path[rows, lasts] - path[rows, firsts] - totals[rows]
    probabilities = iter(logs.exp().clamp(max=1).tolist())
    return [[ScoredSpan(*span, next(probabilities)) for span in spans] for spans in texts]
