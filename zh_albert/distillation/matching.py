"""What a student is asked to match: its teacher's states and attention, layer by layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from zh_albert.distillation.losses import attention_divergence, fraction_unexplained
from zh_albert.model.pretraining_heads import AlbertForPretraining, PretrainingOutput


class TeacherView(NamedTuple):
    """What a teacher makes of a batch, after each of its layers that is matched."""

    states: tuple[Tensor, ...]
    """Shape of each: (batch, length, teacher hidden)."""
    attention: tuple[Tensor, ...]
    """Shape of each: (batch, heads, length, length); none if attention is not matched."""


class MatchingOutput(NamedTuple):
    """The student's answers, and how far it is from its teacher."""

    heads: PretrainingOutput
    fraction_unexplained: Tensor
    """Share of the variance of the teacher's states that is missed. Shape: (matched layers,)."""
    divergence: Tensor
    """Mean divergence of attention, in nats. Shape: (); 0 if attention is not matched."""


class MatchingStudent(nn.Module):
    """A student, and what leads from its states to its teacher's where widths differ.

    Args:
        student: What is kept in the end.
        layers: Which of its layers are matched, counted from 1.
        projections: From each of these layers' states to the teacher's: ``nn.Linear``, or
            ``nn.Identity`` where widths are the same. They are trained, too.
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
        teacher: TeacherView,
    ) -> MatchingOutput:
        """Read a batch, some of it masked, and compare with what the teacher made of it.

        Args:
            token_ids: Vocabulary ids, some masked. Shape: (batch, length).
            type_ids: 0 for the first text, 1 for the second. Shape: (batch, length).
            mask: True where a token may be attended to. Shape: (batch, length).
            positions: Row and column of each masked token. Shape: (masked, 2).
            teacher: Its view of the same masked texts.
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
        missed = []
        for layer, projection, wanted in zip(
            self._layers, self.projections, teacher.states, strict=True
        ):
            missed.append(fraction_unexplained(projection(encoded.states[layer]), wanted, mask))
        divergence = mask.new_zeros((), dtype=torch.float32)
        if teacher.attention:
            found = [encoded.attention[layer - 1] for layer in self._layers]
            pairs = zip(found, teacher.attention, strict=True)
            every = [attention_divergence(ours, theirs, mask) for ours, theirs in pairs]
            divergence = torch.stack(every).mean()
        return MatchingOutput(heads, torch.stack(missed), divergence)
