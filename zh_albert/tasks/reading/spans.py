"""Conversion of the scores of windows to the best answers of a text, with probabilities."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from zh_albert.tasks.reading.examples import AnswerSpan
from zh_albert.tasks.reading.questions import EncodedQuestion

NO_ANSWER = AnswerSpan(0, 0)


class Penalties(NamedTuple):
    """What is taken from an answer's log-odds.

    Start and end of an answer are chosen apart, so long answers that say the question again are as
    likely as what they contain (docs/experiments/reading.md).
    """

    length: float = 0.0
    """For each natural logarithm of its tokens."""
    repeat: float = 0.0
    """For tokens that all are in the question, too; for a part of them, that part of it."""


class RankedSpan(NamedTuple):
    """A possible answer with its log-odds against ``[CLS]``, "the answer is not in this window".

    Penalties are taken from them already.
    """

    log_odds: float
    span: AnswerSpan
    tokens: int = 1
    repeated: float = 0.0
    """The share of its tokens that are in the question, too."""


@dataclass(slots=True)
class Reading:
    """The combined result of all windows of a text for a question.

    Scores are log-odds against ``[CLS]`` of the same window, so that answers of different windows
    are comparable.

    Attributes:
        best: The most likely answers, best first; empty only if there is no text.
        log_mass: Log of the summed odds of all answers.
    """

    best: list[RankedSpan] = field(default_factory=list)
    log_mass: float = -math.inf

    def add(self, best: Sequence[RankedSpan], log_mass: float, keep: int) -> None:
        """Add the answers that one more window decides."""
        self.best = heapq.nlargest(keep, [*self.best, *best])
        if log_mass > self.log_mass:
            log_mass, self.log_mass = self.log_mass, log_mass
        if log_mass > -math.inf:
            self.log_mass += math.log1p(math.exp(log_mass - self.log_mass))

    def answers(self, threshold: float | None) -> list[tuple[AnswerSpan, float]]:
        """Return answers with their probabilities, which sum to 1 over all possible ones.

        Args:
            threshold: Log-odds of "no answer", which is ranked in the list as ``NO_ANSWER``; None:
                there is always an answer if there is a text.
        """
        ranked = [(one.span, one.log_odds) for one in self.best]
        if threshold is None and not ranked:
            return [(NO_ANSWER, 1.0)]
        total = self.log_mass
        if threshold is not None:
            ranked = sorted([(NO_ANSWER, threshold), *ranked], key=lambda answer: -answer[1])
            high, low = max(total, threshold), min(total, threshold)
            total = high + math.log1p(math.exp(low - high))
        return [(span, min(1.0, math.exp(log_odds - total))) for span, log_odds in ranked]


def read_window(
    logits: NDArray[np.float32],
    question: EncodedQuestion,
    number: int,
    *,
    longest: int,
    keep: int,
    penalties: Penalties = Penalties(),  # noqa: B008  (immutable)
) -> tuple[list[RankedSpan], float]:
    """Return the best answers that one window decides, and the log of the summed odds of all.

    Args:
        logits: Logits of start and end. Shape: (length, 2); padding may follow.
        question: The encoded question.
        number: Number of the window.
        longest: Maximum number of tokens of an answer.
        keep: Number of answers to return.
        penalties: Of their log-odds.
    """
    part, decided = question.parts[number], question.decided[number]
    if not part:
        return [], -math.inf
    first = question.text_starts_at
    starts, ends = logits[first : first + len(part)].T
    begins, stops = _character_edges(question.context.offsets, part)
    outer = np.isin(np.arange(part.start, part.stop), question.between, invert=True)
    begins, stops = begins & outer, stops & outer
    starts = np.where(begins, starts - logits[0].sum(), -np.inf)
    longest = min(longest, len(part))
    beyond = np.full(longest - 1, -np.inf, dtype=np.float32)
    ends = np.concatenate([np.where(stops, ends, -np.inf), beyond])
    # Row: the first token; column: number of further tokens.
    odds = starts[:, None] + sliding_window_view(ends, longest)
    repeated = _repeated(question, part, longest)
    if any(penalties):
        lengths = np.log(np.arange(1, longest + 1, dtype=np.float32))
        odds -= penalties.length * lengths + penalties.repeat * repeated
    doubled = 2 * (part.start + np.arange(len(part)))[:, None] + np.arange(longest)
    left_out = (doubled < decided.start) | (doubled >= decided.stop)
    if question.breaks:
        lines = np.searchsorted(
            question.breaks, np.arange(part.start, part.stop + longest - 1), "right"
        )
        left_out |= sliding_window_view(lines, longest) != lines[: len(part), None]
    odds = np.where(left_out, -np.inf, odds).ravel()
    highest = odds.max()
    if highest == -np.inf:
        return [], -math.inf
    kept = min(keep, odds.size)
    ranked = []
    for place in odds.argpartition(-kept)[-kept:].tolist():
        if odds[place] > -np.inf:
            token, more = divmod(place, longest)
            start = question.context.offsets[part[token]][0]
            end = question.context.offsets[part[token + more]][1]
            found = float(odds[place]), AnswerSpan(start, end)
            ranked.append(RankedSpan(*found, more + 1, float(repeated[token, more])))
    return sorted(ranked, reverse=True), float(highest + np.log(np.exp(odds - highest).sum()))


def _repeated(question: EncodedQuestion, part: range, longest: int) -> NDArray[np.float32]:
    """Return the share of each answer's tokens that are in the question, too.

    Shape: (tokens, longest): by the first token and the number of further tokens, whether they are
    there or not.
    """
    ids = np.array(question.context.ids[part.start : part.stop])
    asked = np.concatenate([np.isin(ids, question.question), np.zeros(longest - 1, bool)])
    counts = np.cumsum(sliding_window_view(asked, longest), axis=1, dtype=np.float32)
    return np.asarray(counts / np.arange(1, longest + 1, dtype=np.float32))


def _character_edges(
    offsets: Sequence[tuple[int, int]], part: range
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Mark the tokens that begin, and those that end, a character. Shape of each: (tokens,).

    Tokens can share a character that normalises to several; an answer contains it completely or not
    at all. Tokens without a character begin and end nothing. So no two answers have the same span.
    """
    before = offsets[part.start - 1] if part.start else None
    behind = offsets[part.stop] if part.stop < len(offsets) else None
    around = [before, *offsets[part.start : part.stop], behind]
    edges = np.array([one != other for one, other in pairwise(around)])
    seen = np.array([start < end for start, end in offsets[part.start : part.stop]])
    return edges[:-1] & seen, edges[1:] & seen
