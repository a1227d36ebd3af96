"""From the scores of windows to the best answers of a text, with their probabilities."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from zh_albert.tasks.reading.examples import AnswerSpan
from zh_albert.tasks.reading.questions import EncodedQuestion

NO_ANSWER = AnswerSpan(0, 0)


class RankedSpan(NamedTuple):
    """A possible answer: the log of its odds against "the answer is not in this window"."""

    log_odds: float
    span: AnswerSpan


@dataclass(slots=True)
class Reading:
    """What all windows of a text say of a question.

    Every window compares its answers with "not here"; what that scores is the zero by which
    answers of different windows are compared.

    Attributes:
        best: The likeliest answers, best first; empty only where there is nothing to read.
        log_mass: Log of the summed odds of all answers.
    """

    best: list[RankedSpan] = field(default_factory=list)
    log_mass: float = -math.inf

    def add(self, best: Sequence[RankedSpan], log_mass: float, keep: int) -> None:
        """Take in what one more window decides."""
        self.best = heapq.nlargest(keep, [*self.best, *best])
        if log_mass > self.log_mass:
            log_mass, self.log_mass = self.log_mass, log_mass
        if log_mass > -math.inf:
            self.log_mass += math.log1p(math.exp(log_mass - self.log_mass))

    def answers(self, threshold: float | None) -> list[tuple[AnswerSpan, float]]:
        """Return answers with their probabilities, which sum to 1 over all possible ones.

        Args:
            threshold: Log-odds that "no answer" has, and stands in the list at its place as
                ``NO_ANSWER``; None: there always is an answer, if there is a text.
        """
        ranked = [(span, log_odds) for log_odds, span in self.best]
        if threshold is None and not ranked:
            return [(NO_ANSWER, 1.0)]
        total = self.log_mass
        if threshold is not None:
            ranked = sorted([(NO_ANSWER, threshold), *ranked], key=lambda answer: -answer[1])
            high, low = max(total, threshold), min(total, threshold)
            total = high + math.log1p(math.exp(low - high))
        return [(span, min(1.0, math.exp(log_odds - total))) for span, log_odds in ranked]


def read_window(
    logits: Tensor, question: EncodedQuestion, number: int, *, longest: int, keep: int
) -> tuple[list[RankedSpan], float]:
    """Return the best answers that one window decides, and the log of the summed odds of all.

    Args:
        logits: Of start and end. Shape: (length, 2); padding may follow.
        question: What was read.
        number: Of the window.
        longest: Tokens an answer may have.
        keep: How many answers.
    """
    part, decided = question.parts[number], question.decided[number]
    if not part:
        return [], -math.inf
    nothing = logits[0].sum()
    offset = question.text_starts_at
    starts, ends = logits[offset : offset + len(part)].unbind(-1)
    first, last = _character_edges(question.context.offsets, part)
    starts = starts.masked_fill(~first, -math.inf)
    ends = ends.masked_fill(~last, -math.inf)
    longest = min(longest, len(part))
    beyond = ends.new_full((longest - 1,), -math.inf)
    # Row: the first token; column: how many more the answer has.
    odds = starts[:, None] + torch.cat([ends, beyond]).unfold(0, longest, 1) - nothing
    doubled = 2 * (part.start + torch.arange(len(part)))[:, None] + torch.arange(longest)
    odds = odds.masked_fill((doubled < decided.start) | (doubled >= decided.stop), -math.inf)
    scores, places = odds.flatten().topk(min(keep, odds.numel()))
    ranked = []
    for log_odds, place in zip(scores.tolist(), places.tolist(), strict=True):
        if log_odds > -math.inf:
            token, more = divmod(place, longest)
            start = question.context.offsets[part[token]][0]
            end = question.context.offsets[part[token + more]][1]
            ranked.append(RankedSpan(log_odds, AnswerSpan(start, end)))
    return ranked, odds.flatten().logsumexp(0).item()


def _character_edges(offsets: Sequence[tuple[int, int]], part: range) -> tuple[Tensor, Tensor]:
    """Say which tokens begin, and which end, a character. Shape of each: (tokens,).

    Tokens can share one that normalises to several; an answer has it whole or not at all, and so
    no two answers have the same place.
    """
    borders = range(part.start, part.stop + 1)
    outer = (0, len(offsets))
    edges = torch.tensor([i in outer or offsets[i - 1] != offsets[i] for i in borders])
    return edges[:-1], edges[1:]
