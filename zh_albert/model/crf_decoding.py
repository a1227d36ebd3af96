"""Decoding of a linear-chain conditional random field: best tags and sums over paths, by numpy.

From one token to the next there are about ten operations on few numbers, so what counts is what a
call costs, which is less than in torch. All is computed in double precision, where sums over a very
long text lose nothing, and each text by itself: its values do not depend on the others to the last
bit. Without gradients; training has ``crf``, where the scores are explained.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zh_albert.model.crf import Transitions

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class TransitionScores(NamedTuple):
    """The scores of ``Transitions`` in double precision."""

    start: Floats
    """Into a first tag. Shape: (tags,)."""
    between: Floats
    """From the tag of the row to that of the column. Shape: (tags, tags)."""
    end: Floats
    """Out of a last tag. Shape: (tags,)."""

    @classmethod
    def of(cls, transitions: Transitions) -> TransitionScores:
        """Return the scores of a network, which may be on a GPU."""
        return cls(*(scores.detach().cpu().double().numpy() for scores in transitions))


class PathSums(NamedTuple):
    """Sums over all paths, as logs of the summed exponentials of their scores."""

    before: Floats
    """Of the paths up to each token and tag, its emission included. Shape: (texts, length, tags).
    """
    after: Floats
    """Of the paths after each token and tag, its emission excluded. Shape: (texts, length, tags).
    """
    total: Floats
    """Of whole paths. Shape: (texts,)."""


def best_tags(emissions: Floats, lengths: Ints, transitions: TransitionScores) -> Ints:
    """Return the tags of the most probable path of each text; 0 in the padding.

    Args:
        emissions: Score of each tag at each token. Shape: (texts, length, tags).
        lengths: Tokens of each text, one or more; what follows is padding. Shape: (texts,).
        transitions: Scores between tags.

    Returns:
        Shape: (texts, length).
    """
    texts, length, _ = emissions.shape
    into = np.ascontiguousarray(transitions.between.T)
    best = transitions.start + emissions[:, 0]
    ends, origins = [best], []
    for token in range(1, length):
        scores = best[:, None] + into
        origins.append(scores.argmax(-1))
        best = scores.max(-1) + emissions[:, token]
        ends.append(best)
    rows = np.arange(texts)
    last = (np.stack(ends)[lengths - 1, rows] + transitions.end).argmax(-1)
    tags = np.zeros((texts, length), np.intp)
    tag = last
    for token in range(length - 1, -1, -1):
        tag = np.where(lengths - 1 > token, tag, last)
        tags[:, token] = tag
        if token:
            tag = origins[token - 1][rows, tag]
    tags[np.arange(length) >= lengths[:, None]] = 0
    return tags


def path_sums(emissions: Floats, lengths: Ints, transitions: TransitionScores) -> PathSums:
    """Return the sums over all paths; values in the padding mean nothing.

    Exponentials that are more than 700 nats below the largest of a sum count as zero.

    Args: see ``best_tags``.
    """
    # What follows a token is what precedes it in the reversed text: one recursion for both.
    both = np.stack([emissions, _reversed(emissions, lengths)])
    between = np.stack([transitions.between, transitions.between.T])
    top = between.max()
    shares = np.exp(between - top)
    sums = np.empty((both.shape[2], *both[:, :, 0].shape))
    sums[0] = np.stack([transitions.start, transitions.end])[:, None]
    tiny = np.finfo(np.float64).tiny
    for token in range(1, len(sums)):
        logs = sums[token - 1] + both[:, :, token - 1]
        best = logs.max(-1, keepdims=True)
        # Unlike a product of matrices, einsum adds up in one order, however many texts there are.
        summed = np.einsum("dti,dij->dtj", np.exp(logs - best), shares)
        sums[token] = np.log(np.maximum(summed, tiny)) + (best + top)
    forward, backward = sums.transpose(1, 2, 0, 3)
    before = forward + emissions
    last = before[np.arange(len(before)), lengths - 1]
    total = np.logaddexp.reduce(last + transitions.end, axis=-1)
    return PathSums(before, _reversed(backward, lengths), total)


def _reversed(values: Floats, lengths: Ints) -> Floats:
    """Return each text's values from its last token to its first. Shape: (texts, length, tags)."""
    tokens = lengths[:, None] - 1 - np.arange(values.shape[1])
    turned: Floats = values[np.arange(len(values))[:, None], tokens.clip(min=0)]
    return turned
