"""Layer-by-layer comparison of a student's hidden states and attention with its teacher's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from zh_albert.distillation.losses import attention_divergence, fraction_unexplained
from zh_albert.model.pretraining_heads import AlbertForPretraining, PretrainingOutput


class TeacherStates(NamedTuple):
    """Hidden states and attention of a batch, after each of the teacher's matched layers."""

    states: tuple[Tensor, ...]
    """Shape of each: (batch, length, teacher hidden)."""
    attention: tuple[Tensor, ...]
    """Shape of each: (batch, heads, length, length); empty if attention is not matched."""


class MatchingOutput(NamedTuple):
    """The student's logits, and its distance from the teacher."""

    heads: PretrainingOutput
    fraction_unexplained: Tensor
    """Unexplained fraction of the variance of the teacher's states. Shape: (matched layers,)."""
    divergence: Tensor
    """Mean divergence of attention, in nats; 0 if attention is not matched. Shape: ()."""


class MatchingStudent(nn.Module):
    """A student together with the projections from its states to its teacher's.

    Args:
        student: The part that is kept after training.
        layers: Its matched layers, counted from 1.
        projections: From the states of each of these layers to the teacher's: ``nn.Linear``, or
            ``nn.Identity`` if both have the same width. They are trained as well.
    """

    def __init__(
        self, student: AlbertForPretraining, layers: Sequence[int], projections: Sequence[nn.Module]
    ) -> None:
        super().__init__()
        self.student: AlbertForPretraining = student
        self.projections = nn.ModuleList(projections)
        self._layers = tuple(layers)

    def forward(
        self,
        token_ids: Tensor,
        type_ids: Tensor,
        mask: Tensor,
        positions: Tensor,
        teacher: TeacherStates,
    ) -> MatchingOutput:
        """Encode a masked batch and compare it with the teacher's states.

        Args:
            token_ids: Vocabulary ids, some masked. Shape: (batch, length).
            type_ids: 0 for the first text, 1 for the second. Shape: (batch, length).
            mask: True where a token may be attended to. Shape: (batch, length).
            positions: Row and column of each masked token. Shape: (masked, 2).
            teacher: States of the teacher for the same masked texts.
        """
        encoder = self.student.encoder
        encoded = encoder(
            token_ids,
            type_ids,
            mask,
            return_states=True,
            return_attention=bool(teacher.attention),
        )
        heads = PretrainingOutput(
            masked=self.student.masked_logits(encoded.hidden, positions),
            order=self.student.sentence_order(encoder.pool(encoded.hidden)),
        )
        matched = zip(self._layers, self.projections, teacher.states, strict=True)
        unexplained = [
            fraction_unexplained(projection(encoded.states[layer]), target, mask)
            for layer, projection, target in matched
        ]
        divergence = mask.new_zeros((), dtype=torch.float32)
        if teacher.attention:
            ours = [encoded.attention[layer - 1] for layer in self._layers]
            pairs = zip(ours, teacher.attention, strict=True)
            divergence = torch.stack([attention_divergence(*pair, mask) for pair in pairs]).mean()
        return MatchingOutput(heads, torch.stack(unexplained), divergence)
