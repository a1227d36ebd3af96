"""The heads of BIOES tags: softmax, and a conditional random field."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from zh_albert.model.bioes import OUTSIDE, legal_moves
from zh_albert.model.crf import (
    Moves,
    backward_scores,
    fixed_moves,
    forward_scores,
    log_likelihood,
    viterbi,
)
from zh_albert.model.taggers import TokenTagger
from zh_albert.tasks.batching import Size, sorted_batches
from zh_albert.tasks.ner.alignment import Losses, ScoredSpan, TokenSpan, without_overlaps
from zh_albert.tasks.ner.heads import Passage
from zh_albert.tasks.ner.merging import deciding, merged, positions
from zh_albert.tasks.ner.tags import spans_of, tags_of
from zh_albert.tasks.teaching import divergence

_DECODED_TOKENS = 8192  # tokens searched for the best tags at a time


class TagHead:
    """BIOES tags; legal sequences only, whether the moves between them are learned or not.

    An entity's score is its probability: the share, among all legal sequences of its text, of
    those that hold it.
    """

    flat = True

    def __init__(self, network: TokenTagger, num_types: int) -> None:
        self._network = network
        self._fixed = fixed_moves(legal_moves(num_types))

    def teachable(self, passage: Passage, losses: Losses) -> list[TokenSpan]:
        """Keep the longest of entities that overlap."""
        return without_overlaps(passage.spans, losses)

    def targets(self, passages: Sequence[Passage], length: int) -> dict[str, Tensor]:
        """Return the tag of each token, and which window decides it."""
        tags = [torch.tensor(tags_of(p.spans, p.tokens)) for p in passages]
        return {"tags": pad_sequence(tags, batch_first=True), **deciding(passages, length)}

    def loss(self, scores: Tensor, inputs: dict[str, Tensor]) -> Tensor:
        """Return the negative log-probability of the tags, in nats, summed over the tokens."""
        return self._losses(*merged(scores, inputs), inputs["tags"]).sum()

    def taught_loss(self, scores: Tensor, inputs: dict[str, Tensor], temperature: float) -> Tensor:
        """Return ``loss`` with a teacher's share in it.

        Its emissions are compared at each token as if each tag were chosen for itself; how tags
        follow each other is learned from those that are given.

        Args:
            scores: See ``loss``.
            inputs: The batch; ``taught``: the teacher's emissions, Shape: (texts, tokens, tags);
                ``taught_share``: what they count in each text's loss, Shape: (texts,).
            temperature: See ``divergence``.
        """
        emissions, mask = merged(scores, inputs)
        losses = self._losses(emissions, mask, inputs["tags"])
        taught = (divergence(emissions, inputs["taught"], temperature) * mask).sum(1)
        return losses.lerp(taught, inputs["taught_share"]).sum()

    def _losses(self, emissions: Tensor, mask: Tensor, tags: Tensor) -> Tensor:
        """Return the negative log-probability of each text's tags. Shape: (texts,)."""
        if self._network.transitions is None:
            each = F.cross_entropy(emissions.transpose(1, 2), tags, reduction="none")
            return (each * mask).sum(1)
        return -log_likelihood(emissions, mask, self._network.transitions(), tags)

    def weight(self, passages: Sequence[Passage]) -> float:
        """Count tokens."""
        return float(sum(passage.tokens for passage in passages))

    def chance_loss(self, passages: Sequence[Passage]) -> float:
        """Return the entropy of the tags."""
        counts = Counter(tag for p in passages for tag in tags_of(p.spans, p.tokens))
        total = counts.total()
        return -sum(count / total * math.log(count / total) for count in counts.values())

    def piece(self, scores: Tensor, part: range, decided: range) -> Tensor:
        """Return the emissions of the tokens this window decides."""
        return scores[positions(part, decided)]

    def entities(self, texts: Sequence[Sequence[Tensor]]) -> list[list[ScoredSpan]]:
        """Find the best legal tags of each text."""
        emissions = [torch.cat(list(pieces)) for pieces in texts]
        result: list[list[ScoredSpan]] = [[] for _ in texts]
        moves = Moves(*(move.detach().cpu().double() for move in self._moves()))
        for chosen in sorted_batches([Size(1, len(e)) for e in emissions], _DECODED_TOKENS):
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

    def _moves(self) -> Moves:
        transitions = self._network.transitions
        moves: Moves = self._fixed if transitions is None else transitions()
        return moves


def _scored_spans(
    emissions: Tensor, mask: Tensor, moves: Moves, tags: Tensor
) -> list[list[ScoredSpan]]:
    """Return the entities that tags mark, each with its probability; see ``TagHead``.

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
