"""The heads of BIOES tags: softmax, and a conditional random field."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from zh_albert.distillation.losses import divergence
from zh_albert.model.bioes import legal_moves
from zh_albert.model.crf import Moves, fixed_moves, log_likelihood
from zh_albert.model.taggers import TokenTagger
from zh_albert.tasks.ner.alignment import Losses, ScoredSpan, TokenSpan, without_overlaps
from zh_albert.tasks.ner.heads import Passage
from zh_albert.tasks.ner.merging import deciding, merged, positions
from zh_albert.tasks.ner.tag_decoding import best_spans
from zh_albert.tasks.ner.tags import tags_of


class TagHead:
    """BIOES tags; legal sequences only, whether the moves between them are learned or not.

    See ``best_spans`` for the scores of entities.
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

    def loss_with_soft_targets(
        self, scores: Tensor, inputs: dict[str, Tensor], temperature: float
    ) -> Tensor:
        """Return ``loss`` with a teacher's share in it.

        Its emissions are compared at each token as if each tag were chosen for itself; how tags
        follow each other is learned from those that are given.

        Args:
            scores: See ``loss``.
            inputs: The batch; ``taught``: the teacher's emissions, Shape: (texts, tokens, tags);
                ``soft_share``: what they count in each text's loss, Shape: (texts,).
            temperature: See ``divergence``.
        """
        emissions, mask = merged(scores, inputs)
        losses = self._losses(emissions, mask, inputs["tags"])
        soft_targets = (divergence(emissions, inputs["soft_targets"], temperature) * mask).sum(1)
        return losses.lerp(soft_targets, inputs["soft_share"]).sum()

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
        transitions = self._network.transitions
        moves: Moves = self._fixed if transitions is None else transitions()
        return best_spans([torch.cat(list(pieces)) for pieces in texts], moves)
