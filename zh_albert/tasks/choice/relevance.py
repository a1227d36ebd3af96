"""The part of a long context that a question is about: the sentences nearest to it.

A small model finds an answer in a few sentences, and hardly one within pages
(docs/experiments/multiple-choice.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from zh_albert.tasks.breaks import breaks_of
from zh_albert.tasks.ngrams import hashed_ngrams
from zh_albert.tokenization.encoding import Encoding

_SENTENCE_ENDS = frozenset("。！？；!?;…")
_CLAUSE_ENDS = frozenset("，、：,:")
_LONGEST = 60  # tokens of a sentence; a longer one is cut, behind a clause if it has one
_ORDERS = 2  # single tokens, and pairs of them


def relevant_part(
    text: str,
    context: Encoding,
    question: Sequence[int],
    choices: Sequence[Sequence[int]],
    room: int,
) -> Encoding:
    """Return the sentences of a context that are nearest to a question and one of its choices.

    Nearness to the question and the highest to a choice count alike. It is the weight of the
    n-grams in common over the square root of all that was looked for and the fourth root of the
    sentence's length: between a sum, which prefers long sentences, and a cosine, which prefers
    short ones. An n-gram weighs more if few sentences of this context have it, so nothing has to be
    learned.

    Args:
        text: The context.
        context: Its tokens.
        question: Tokens of the question.
        choices: Tokens of each choice.
        room: Limit on the tokens returned; 0: none.

    Returns:
        Whole sentences in the order of the text, each without a change; all of a context that has
        room, and of one whose question is empty, for that asks where it has a gap.
    """
    if not 0 < room < len(context) or not question:
        return context
    sentences = list(_sentences(text, context, min(_LONGEST, room)))
    owned = [_ngrams(context.ids[part.start : part.stop]) for part in sentences]
    kept: list[range] = []
    for index in np.argsort(-_nearness(owned, question, choices), kind="stable"):
        if len(sentences[index]) <= room:
            kept.append(sentences[index])
            room -= len(sentences[index])
    tokens = sorted(token for part in kept for token in part)
    return Encoding(
        [context.ids[token] for token in tokens], [context.offsets[token] for token in tokens]
    )


def _sentences(text: str, context: Encoding, longest: int) -> Iterator[range]:
    """Yield the tokens of each sentence, line or part of one."""
    lines = {*breaks_of(text, context.offsets, blanks=False), len(context)}
    start = clause = 0
    for token, (first, last) in enumerate(context.offsets, start=1):
        sign = text[first:last]
        if sign in _CLAUSE_ENDS:
            clause = token
        if sign in _SENTENCE_ENDS or token in lines:
            yield range(start, token)
            start = clause = token
        elif token - start == longest:
            end = clause if clause > start else token
            yield range(start, end)
            start = clause = end


def _nearness(
    sentences: Sequence[NDArray[np.uint32]],
    question: Sequence[int],
    choices: Sequence[Sequence[int]],
) -> NDArray[np.float64]:
    """Return that of each sentence. Shape: (sentences,)."""
    asked = _ngrams(question)
    offered = [np.setdiff1d(_ngrams(choice), asked, assume_unique=True) for choice in choices]
    names = np.unique(np.concatenate([asked, *offered]))
    inside = np.stack([np.isin(names, own, assume_unique=True) for own in sentences])
    weights = np.log(1 + len(sentences) / np.maximum(inside.sum(0), 1)) ** 2
    lengths = np.array([len(own) for own in sentences])

    def nearness_to(wanted: NDArray[np.uint32]) -> NDArray[np.float64]:
        looked_for = np.isin(names, wanted, assume_unique=True) * weights
        common = (inside * looked_for).sum(1)
        return np.asarray(common / np.sqrt(looked_for.sum() or 1) / lengths**0.25)

    closest = np.max([nearness_to(one) for one in offered], axis=0)
    return np.asarray(nearness_to(asked) + closest)


def _ngrams(ids: Sequence[int]) -> NDArray[np.uint32]:
    """Return the distinct n-grams. Shape: (n-grams,)."""
    return np.unique(hashed_ngrams(np.array(ids, np.uint64), _ORDERS))
