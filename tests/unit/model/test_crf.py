"""The random field against enumeration and against pytorch-crf."""

from __future__ import annotations

import itertools

import pytest
import torch
import torchcrf
from torch import Tensor

from zh_albert.model.crf import (
    FORBIDDEN,
    LearnedTransitions,
    Transitions,
    log_likelihood,
    log_partition,
)
from zh_albert.tasks.ner.tags import TagSet

LENGTHS = [4, 1, 3]
MASK = torch.arange(4) < torch.tensor(LENGTHS)[:, None]


def random_transitions(tags: int, legal: Transitions | None = None) -> Transitions:
    torch.manual_seed(1)
    transitions = Transitions(torch.randn(tags), torch.randn(tags, tags), torch.randn(tags))
    if legal is None:
        return transitions
    pairs = zip(transitions, legal, strict=True)
    return Transitions(*(torch.where(allowed, score, FORBIDDEN) for score, allowed in pairs))


def score_of(emissions: Tensor, transitions: Transitions, tags: tuple[int, ...]) -> float:
    score = transitions.start[tags[0]] + transitions.end[tags[-1]]
    score = score + sum(emissions[token, tag] for token, tag in enumerate(tags))
    return float(score + sum(transitions.between[a, b] for a, b in itertools.pairwise(tags)))


@pytest.mark.parametrize("legal", [None, TagSet.of("a").legal])
def test_probabilities_equal_enumeration(legal: Transitions | None) -> None:
    torch.manual_seed(0)
    emissions, transitions = torch.randn(3, 4, 5) * 2, random_transitions(5, legal)
    total = log_partition(emissions, MASK, transitions)
    for row, length in enumerate(LENGTHS):
        every = list(itertools.product(range(5), repeat=length))
        scores = torch.tensor([score_of(emissions[row], transitions, tags) for tags in every])
        expected = torch.logsumexp(scores, 0)
        torch.testing.assert_close(total[row], expected)
        for tags in every[:: len(every) // 5]:
            padded = torch.tensor([*tags, *[3] * (4 - length)])[None]  # padding is not read
            found = log_likelihood(
                emissions[row : row + 1], MASK[row : row + 1], transitions, padded
            )
            score = score_of(emissions[row], transitions, tags)
            torch.testing.assert_close(found[0], score - expected, rtol=1e-4, atol=1e-3)


def test_likelihood_and_gradient_equal_pytorch_crf() -> None:
    torch.manual_seed(0)
    lengths = torch.tensor([20, 7, 13, 1])
    mask = torch.arange(20) < lengths[:, None]
    tags = torch.randint(9, (4, 20))
    ours, theirs = (torch.randn(4, 20, 9, requires_grad=True) for _ in range(2))
    theirs = ours.detach().clone().requires_grad_()
    reference = torchcrf.CRF(9, batch_first=True)
    parameters = (
        reference.start_transitions,
        reference.transitions,
        reference.end_transitions,
    )
    transitions = Transitions(*(p.detach().clone().requires_grad_() for p in parameters))

    found = log_likelihood(ours, mask, transitions, tags)
    expected = reference(theirs, tags, mask, reduction="none")
    torch.testing.assert_close(found, expected)
    found.sum().backward()
    expected.sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad)
    for mine, parameter in zip(transitions, parameters, strict=True):
        torch.testing.assert_close(mine.grad, parameter.grad)


def test_illegal_transitions_are_not_learned_and_gradients_are_numbers() -> None:
    field = LearnedTransitions(TagSet.of("a").legal)
    emissions = (torch.randn(2, 6, 5) * 100).requires_grad_()
    tags = torch.tensor([[0, 1, 2, 3, 0, 4], [4, 4, 0, 0, 0, 0]])
    mask = torch.tensor([[True] * 6, [True] * 2 + [False] * 4])
    (-log_likelihood(emissions, mask, field(), tags)).sum().backward()
    assert emissions.grad is not None
    assert emissions.grad.isfinite().all()
    assert emissions.grad[1, 2:].eq(0).all()
    assert field.between.grad is not None
    assert field.between.grad[~TagSet.of("a").legal.between].eq(0).all()
    assert field.between.grad.any()
