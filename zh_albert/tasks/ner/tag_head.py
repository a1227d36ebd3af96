"""The heads of tags: softmax, and a conditional random field."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from zh_albert.distillation.soft_targets import TeacherConfig
from zh_albert.model.token_tagger import TokenTagger
from zh_albert.tasks.ner.alignment import ScoredSpan, SkippedEntities, TokenSpan, without_overlaps
from zh_albert.tasks.ner.heads import Passage
from zh_albert.tasks.ner.tags import TagSet, best_spans
from zh_albert.tasks.tagging.merging import decided_scores, deciding, merged, whole
from zh_albert.tasks.tagging.metrics import entropy


class TagHead:
    """Tags, decoded to legal sequences only, with learned transitions or without.

    See ``best_spans`` for the scores of entities.
    """

    flat = True

    def __init__(self, network: TokenTagger, tags: TagSet) -> None:
        self._network, self._tags = network, tags

    def teachable(self, passage: Passage, skipped: SkippedEntities) -> list[TokenSpan]:
        """Keep the longest of entities that overlap."""
        return without_overlaps(passage.spans, skipped)

    def targets(self, passages: Sequence[Passage], length: int) -> dict[str, Tensor]:
        """Return the tag of each token, and the window that decides it."""
        tags = [torch.tensor(self._tags.of_spans(p.spans, p.tokens)) for p in passages]
        return {
            "tags": pad_sequence(tags, batch_first=True),
            **deciding([p.text for p in passages], length),
        }

    def loss(
        self, scores: Tensor, inputs: dict[str, Tensor], teacher: TeacherConfig | None = None
    ) -> Tensor:
        """Return the negative log-probability of the tags, in nats, summed over the tokens.

        With soft targets the student's emissions are compared with a teacher's at each token
        independently; transitions are learned only from the tags.

        Args:
            scores: The network's scores for all windows of the batch.
            inputs: The batch; ``soft_targets``: a teacher's emissions, Shape: (texts, tokens,
                tags); ``soft_share``: their weight in each text's loss, Shape: (texts,).
            teacher: How they are compared; None: there are no soft targets.
        """
        emissions, mask = merged(scores, inputs)
        losses = self._network.losses(emissions, mask, inputs["tags"])
        if teacher is not None:
            soft = (teacher.distance(emissions, inputs["soft_targets"]) * mask).sum(1)
            losses = losses.lerp(soft, inputs["soft_share"])
        return losses.sum()

    def weight(self, passages: Sequence[Passage]) -> float:
        """Count tokens."""
        return float(sum(passage.tokens for passage in passages))

    def chance_loss(self, passages: Sequence[Passage]) -> float:
        """Return the entropy of the tags."""
        return entropy(tag for p in passages for tag in self._tags.of_spans(p.spans, p.tokens))

    piece = staticmethod(decided_scores)

    def entities(
        self, texts: Sequence[Sequence[Tensor]], breaks: Sequence[Sequence[int]]
    ) -> list[list[ScoredSpan]]:
        """Decode the best legal tag sequence of each text."""
        return best_spans(whole(texts), self._network.transition_scores(), self._tags, breaks)
