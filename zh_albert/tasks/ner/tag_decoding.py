"""From scores of tags to entities: a text's best legal tags, and how probable each entity is."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from zh_albert.model.bioes import OUTSIDE
from zh_albert.model.crf import Moves, backward_scores, forward_scores, viterbi
from zh_albert.tasks.ner.alignment import ScoredSpan
from zh_albert.tasks.ner.tags import spans_of
from zh_albert.training.batching import Size, sorted_batches

_TOKENS = 8192  # searched at a time


def best_spans(emissions: Sequence[Tensor], moves: Moves) -> list[list[ScoredSpan]]:
    """Return the entities of each text, by the best legal tags.

    An entity's score is its probability: the share, among all legal sequences of its text, of
    those that hold it.

    Args:
        emissions: Of each text. Shape of each: (tokens, tags).
        moves: Scores of the moves between tags.
    """
    result: list[list[ScoredSpan]] = [[] for _ in emissions]
    moves = Moves(*(move.detach().cpu().double() for move in moves))
    for chosen in sorted_batches([Size(1, len(e)) for e in emissions], _TOKENS):
        lengths = torch.tensor([len(emissions[index]) for index in chosen])
        # In double precision the sums of a very long text still tell its tags apart.
        batch = pad_sequence([emissions[index].double() for index in chosen], batch_first=True)
        mask = torch.arange(batch.shape[1]) < lengths[:, None]
        tags = viterbi(batch, mask, moves)
        found = (tags != OUTSIDE).any(1)
        rows = [index for index, has in zip(chosen, found.tolist(), strict=True) if has]
        scored = _scored_spans(batch[found], mask[found], moves, tags[found])
        for index, entities in zip(rows, scored, strict=True):
            result[index] = entities
    return result


def _scored_spans(
    emissions: Tensor, mask: Tensor, moves: Moves, tags: Tensor
) -> list[list[ScoredSpan]]:
    """Return the entities that tags mark, each with its probability; see ``best_spans``.

    Args:
        emissions: Of one text or more. Shape: (texts, length, tags).
        mask: True for tokens, then padding. Shape: (texts, length).
        moves: Scores of the moves.
        tags: The best of each text, whose moves are legal. Shape: (texts, length).
    """
    texts = [list(spans_of(row)) for row in tags.tolist()]
    found = [(row, *span[:2]) for row, spans in enumerate(texts) for span in spans]
    if not found:
        return [[] for _ in texts]
    rows, firsts, lasts = torch.tensor(found).T
    before = forward_scores(emissions, mask, moves)
    after = backward_scores(emissions, mask, moves)
    totals = torch.logsumexp(before[:, -1] + moves.end, dim=-1)
    # What each token adds to its text's path; the tags of an entity are a part of that path.
    steps = emissions.gather(2, tags[..., None]).squeeze(2)
    steps[:, 1:] += moves.between[tags[:, :-1], tags[:, 1:]]
    path = steps.cumsum(1)
    logs = before[rows, firsts, tags[rows, firsts]] + after[rows, lasts, tags[rows, lasts]]
    logs += path[rows, lasts] - path[rows, firsts] - totals[rows]
    probabilities = iter(logs.exp().clamp(max=1).tolist())
    return [[ScoredSpan(*span, next(probabilities)) for span in spans] for spans in texts]
