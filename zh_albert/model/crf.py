"""Linear-chain conditional random field: batched functions in log space.

The score of a sequence of tags is the sum of its emissions and of its transitions: into the first
tag, from each tag to the next, out of the last. Its probability is the softmax of the score over
all sequences.
Source: Lafferty et al. 2001; Rabiner 1989 for the recursions.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

# Score of a forbidden transition. Finite, because log-sum-exp of infinities has no gradient; far
# below any sum of real scores, so that exp() of it is exactly 0.
FORBIDDEN = -1e4


class Transitions(NamedTuple):
    """A score, or whether it is allowed, for each transition between tags."""

    start: Tensor
    """Into a first tag. Shape: (tags,)."""
    between: Tensor
    """From the tag of the row to that of the column. Shape: (tags, tags)."""
    end: Tensor
    """Out of a last tag. Shape: (tags,)."""


def fixed_transitions(legal: Transitions) -> Transitions:
    """Return scores that only express which transitions are legal: 0 or ``FORBIDDEN``."""
    return Transitions(*(torch.where(allowed, 0.0, FORBIDDEN) for allowed in legal))


class LearnedTransitions(nn.Module):
    """Learned scores of the legal transitions; all others remain ``FORBIDDEN``."""

    def __init__(self, legal: Transitions) -> None:
        super().__init__()
        self.start, self.between, self.end = (nn.Parameter(torch.zeros(m.shape)) for m in legal)
        for name, allowed in legal._asdict().items():
            self.register_buffer(f"legal_{name}", allowed, persistent=False)

    def forward(self) -> Transitions:
        """Return the scores of all transitions."""
        return Transitions(
            *(
                torch.where(getattr(self, f"legal_{name}"), getattr(self, name), FORBIDDEN)
                for name in Transitions._fields
            )
        )


def log_likelihood(
    emissions: Tensor, mask: Tensor, transitions: Transitions, tags: Tensor
) -> Tensor:
    """Return the log probability of the given tags, in nats. Shape: (batch,).

    Args:
        emissions: Score of each tag at each token. Shape: (batch, length, tags).
        mask: True for the tokens of a sequence: one or more, then padding. Shape: (batch, length).
        transitions: Their scores.
        tags: One for each token; values in the padding are ignored. Shape: (batch, length).
    """
    inside = mask.to(emissions.dtype)
    tags = tags.masked_fill(~mask, 0)
    emitted = emissions.gather(-1, tags[..., None]).squeeze(-1)
    passed = transitions.between[tags[:, :-1], tags[:, 1:]]
    last = tags.gather(1, mask.sum(1, keepdim=True) - 1).squeeze(1)
    score = (emitted * inside).sum(1) + (passed * inside[:, 1:]).sum(1)
    score = score + transitions.start[tags[:, 0]] + transitions.end[last]
    return score - log_partition(emissions, mask, transitions)


def log_partition(emissions: Tensor, mask: Tensor, transitions: Transitions) -> Tensor:
    """Return the log of the summed exponentials of all sequences' scores. Shape: (batch,).

    Args: see ``log_likelihood``.
    """
    return torch.logsumexp(
        forward_scores(emissions, mask, transitions)[:, -1] + transitions.end, dim=-1
    )


def forward_scores(emissions: Tensor, mask: Tensor, transitions: Transitions) -> Tensor:
    """Return the log-sum of all paths up to each token and tag, that tag's emission included.

    In the padding, the last token's row is repeated.

    Args: see ``log_likelihood``.

    Returns:
        Shape: (batch, length, tags); logs.
    """
    rows = [transitions.start + emissions[:, 0]]
    sums = _LogSumExp(transitions.between)
    for token in range(1, emissions.shape[1]):
        row = sums(rows[-1]) + emissions[:, token]
        rows.append(torch.where(mask[:, token, None], row, rows[-1]))
    return torch.stack(rows, dim=1)


class _LogSumExp:
    """Log-sum-exp over all transitions as a matrix product, many times as fast as one sum after the
    other.

    Terms that are more than 80 nats (in double precision 700) below the largest of their row count
    as zero; ``FORBIDDEN`` always does.
    """

    def __init__(self, transitions: Tensor) -> None:
        self._top = transitions.detach().max()
        self._shares = (transitions - self._top).exp()

    def __call__(self, logs: Tensor) -> Tensor:
        """Return the log of the sum of exp(log + score) into each tag. Shape: (batch, tags)."""
        best = logs.detach().amax(-1, keepdim=True)
        summed = (logs - best).exp() @ self._shares
        # The log of 0 would have an infinite gradient.
        return summed.clamp_min(torch.finfo(summed.dtype).tiny).log() + best + self._top
