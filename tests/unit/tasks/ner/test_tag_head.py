"""Entities' probabilities, against enumeration."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from tests.helpers.entity_heads import (
    answer,
    head_of,
    read,
)
from zh_albert.model.crf import Transitions, fixed_transitions
from zh_albert.tasks.ner.networks import Head
from zh_albert.tasks.ner.tags import legal_transitions, spans_of


@pytest.mark.parametrize("name", ["softmax", "crf"])
def test_an_entitys_score_is_its_share_of_all_legal_sequences(name: Head) -> None:
    head, text = head_of(name), read(4, max_length=32)
    torch.manual_seed(0)
    network = head._network
    for parameter in network.transitions.parameters() if name == "crf" else ():
        torch.nn.init.normal_(parameter)
    emissions = torch.randn(6, 9)
    scores = network.transitions() if name == "crf" else fixed_transitions(legal_transitions(2))
    transitions = Transitions(*(score.detach() for score in scores))

    def score(tags: tuple[int, ...]) -> float:
        total = transitions.start[tags[0]] + transitions.end[tags[-1]]
        total = total + sum(emissions[1 + token, tag] for token, tag in enumerate(tags))
        return float(total + sum(transitions.between[a, b] for a, b in itertools.pairwise(tags)))

    every = {tags: math.exp(score(tags)) for tags in itertools.product(range(9), repeat=4)}
    best = max(every, key=lambda tags: every[tags])
    found = answer(head, text, emissions[None])
    assert [span[:3] for span in found] == [tuple(span) for span in spans_of(best)]
    assert found, "the seed gives at least one entity"
    for span in found:
        share = sum(v for tags, v in every.items() if span[:3] in set(map(tuple, spans_of(tags))))
        assert span.score == pytest.approx(share / sum(every.values()), abs=1e-4)
