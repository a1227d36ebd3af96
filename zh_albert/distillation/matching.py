"""What a student is asked to match: its teacher's states and attention, layer by layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from zh_albert.model.pretraining_heads import AlbertForPretraining, PretrainingOutput
from zh_albert.model.state_matching import unexplained


class TeacherView(NamedTuple):
    """What a teacher makes of a batch, after each of its layers that is matched."""

    states: tuple[Tensor, ...]
    """Shape of each: (batch, length, teacher hidden)."""
    attention: tuple[Tensor, ...]
    """Shape of each: (batch, heads, length, length); none if attention is not matched."""


class MatchingOutput(NamedTuple):
    """The student's answers, and how far it is from its teacher."""

    heads: PretrainingOutput
    unexplained: Tensor
    """Share of the variance of the teacher's states that is missed. Shape: (matched layers,)."""
    divergence: Tensor
    """Mean divergence of attention, in nats. Shape: (); 0 if attention is not matched."""


class MatchingStudent(nn.Module):
    """A student, and what leads from its states to its teacher's where widths differ.

    Args:
        student: What is kept in the end.
        layers: Which of its layers are matched, counted from 1.
        bridges: From each of these layers' states to the teacher's: ``nn.Linear``, or
            ``nn.Identity`` where widths are the same. They are trained, too.
    """

    def __init__(
        self, student: AlbertForPretraining, layers: Sequence[int], bridges: Sequence[nn.Module]
    ) -> None:
        super().__init__()
        self.student: AlbertForPretraining = student
        self.bridges = nn.ModuleList(bridges)
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
        for layer, bridge, wanted in zip(self._layers, self.bridges, teacher.states, strict=True):
            missed.append(unexplained(bridge(encoded.states[layer]), wanted, mask))
        divergence = mask.new_zeros((), dtype=torch.float32)
        if teacher.attention:
            found = [encoded.attention[layer - 1] for layer in self._layers]
            pairs = zip(found, teacher.attention, strict=True)
            every = [attention_divergence(ours, theirs, mask) for ours, theirs in pairs]
            divergence = torch.stack(every).mean()
        return MatchingOutput(heads, torch.stack(missed), divergence)


def attention_divergence(ours: Tensor, theirs: Tensor, mask: Tensor) -> Tensor:
    """Mean Kullback-Leibler divergence of the teacher's attention from the student's. Shape: ().

    Source: Wang et al. 2020, MiniLM (arXiv:2002.10957), section 3.1.

    Args:
        ours: Probabilities. Shape: (batch, heads, length, length).
        theirs: Shape: (batch, heads, length, length).
        mask: True for real tokens. Shape: (batch, length).
    """
    tiny = 1e-6
    wanted = theirs.float()
    terms = wanted * (wanted.clamp(min=tiny).log() - ours.float().clamp(min=tiny).log())
    of_tokens = terms.sum(-1).mean(1)  # (batch, length)
    return torch.where(mask, of_tokens, 0.0).sum() / mask.sum()
