"""Decoding against enumeration and against pytorch-crf."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
import torchcrf

from zh_albert.model.crf import FORBIDDEN, LearnedTransitions, Transitions, fixed_transitions
from zh_albert.model.crf_decoding import Floats, TransitionScores, best_tags, path_sums
from zh_albert.tasks.ner.tags import TagSet

LENGTHS = np.array([4, 1, 3])


def drawn(tags: int, legal: Transitions | None = None) -> TransitionScores:
    rng = np.random.default_rng(1)
    start, between, end = (rng.standard_normal(shape) for shape in [tags, (tags, tags), tags])
    if legal is not None:
        start, between, end = (
            np.where(allowed, score, FORBIDDEN)
            for score, allowed in zip((start, between, end), legal, strict=True)
        )
    return TransitionScores(start, between, end)


def score_of(emissions: Floats, transitions: TransitionScores, tags: tuple[int, ...]) -> float:
    score = transitions.start[tags[0]] + transitions.end[tags[-1]]
    score += sum(emissions[token, tag] for token, tag in enumerate(tags))
    return float(score + sum(transitions.between[a, b] for a, b in itertools.pairwise(tags)))


@pytest.mark.parametrize("legal", [None, TagSet.of("a").legal])
def test_every_sum_and_the_best_tags_equal_enumeration(legal: Transitions | None) -> None:
    emissions = np.random.default_rng(0).standard_normal((3, 4, 5)) * 2
    transitions = drawn(5, legal)
    best, sums = (f(emissions, LENGTHS, transitions) for f in (best_tags, path_sums))
    for row, length in enumerate(LENGTHS):
        every = list(itertools.product(range(5), repeat=int(length)))
        scores = np.array([score_of(emissions[row], transitions, tags) for tags in every])
        assert sums.total[row] == pytest.approx(np.logaddexp.reduce(scores), abs=1e-12)
        assert tuple(best[row, :length].tolist()) == every[int(scores.argmax())]
        assert (best[row, length:] == 0).all()
        shares = np.exp(scores - sums.total[row])
        for token, tag in itertools.product(range(length), range(5)):
            holding = [tags[token] == tag for tags in every]
            found = sums.before[row, token, tag] + sums.after[row, token, tag] - sums.total[row]
            assert np.exp(found) == pytest.approx(shares[holding].sum(), abs=1e-12)


def test_best_tags_equal_pytorch_crf() -> None:
    torch.manual_seed(0)
    lengths = torch.tensor([20, 7, 13, 1])
    emissions, reference = torch.randn(4, 20, 9), torchcrf.CRF(9, batch_first=True)
    transitions = TransitionScores.of(
        Transitions(reference.start_transitions, reference.transitions, reference.end_transitions)
    )
    best = best_tags(emissions.double().numpy(), lengths.numpy(), transitions)
    rows = [row[:length].tolist() for row, length in zip(best, lengths.tolist(), strict=True)]
    assert rows == reference.decode(emissions, torch.arange(20) < lengths[:, None])


@pytest.mark.parametrize("learned", [False, True])
def test_no_emission_makes_an_illegal_sequence_best(learned: bool) -> None:
    legal = TagSet.of("ab").legal
    rng = np.random.default_rng(0)
    emissions, lengths = rng.standard_normal((64, 12, 9)) * 50, rng.integers(1, 13, 64)
    field = LearnedTransitions(legal)
    torch.nn.init.normal_(field.between, std=20)
    transitions = TransitionScores.of(field() if learned else fixed_transitions(legal))
    for row, length in zip(best_tags(emissions, lengths, transitions), lengths, strict=True):
        tags = row[:length].tolist()
        assert legal.start[tags[0]]
        assert legal.end[tags[-1]]
        assert all(legal.between[a, b] for a, b in itertools.pairwise(tags))


def test_values_of_a_text_do_not_depend_on_the_others() -> None:
    rng = np.random.default_rng(0)
    emissions, lengths = rng.standard_normal((9, 30, 21)), rng.integers(1, 31, 9)
    transitions = drawn(21)
    together = path_sums(emissions, lengths, transitions)
    for row, length in enumerate(lengths):
        alone = path_sums(emissions[row : row + 1, :length], lengths[row : row + 1], transitions)
        assert alone.total[0] == together.total[row]
        assert (alone.before[0] == together.before[row, :length]).all()
        assert (alone.after[0] == together.after[row, :length]).all()


def test_scores_far_apart_are_summed_as_numbers() -> None:
    transitions = TransitionScores.of(fixed_transitions(TagSet.of("ab").legal))
    emissions = np.random.default_rng(0).standard_normal((2, 50, 9)) * 2_000
    sums = path_sums(emissions, np.array([50, 20]), transitions)
    assert np.isfinite(sums.total).all()
    assert np.isfinite(sums.after[0]).all()
