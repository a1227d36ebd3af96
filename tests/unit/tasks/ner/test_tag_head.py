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
from zh_albert.tasks.ner.tags import TagSet

TAG_SETS = {
    "bioes": TagSet.of("地人"),
    "bio": TagSet.of("地人", "bio"),
    "bios": TagSet.read(["S-地", "I-地", "B-地", "O"]),
    "bmes": TagSet.read(["B_地", "M_地", "E_地", "S_地", "B_人", "S_人", "E_人", "O"]),
}


@pytest.mark.parametrize("tag_set", TAG_SETS.values(), ids=TAG_SETS)
@pytest.mark.parametrize("name", ["softmax", "crf"])
def test_an_entitys_score_is_its_share_of_all_legal_sequences(name: Head, tag_set: TagSet) -> None:
    head, text, tags = head_of(name, tag_set), read(4, max_length=32), len(tag_set.names)
    torch.manual_seed(0)
    network = head._network
    for parameter in network.transitions.parameters() if name == "crf" else ():
        torch.nn.init.normal_(parameter)
    emissions = torch.randn(6, tags)
    scores = network.transitions() if name == "crf" else fixed_transitions(tag_set.legal)
    transitions = Transitions(*(score.detach() for score in scores))

    def score(tags: tuple[int, ...]) -> float:
        total = transitions.start[tags[0]] + transitions.end[tags[-1]]
        total = total + sum(emissions[1 + token, tag] for token, tag in enumerate(tags))
        return float(total + sum(transitions.between[a, b] for a, b in itertools.pairwise(tags)))

    every = {tags: math.exp(score(tags)) for tags in itertools.product(range(tags), repeat=4)}
    best = max(every, key=lambda tags: every[tags])
    found = answer(head, text, emissions[None])
    assert [span[:3] for span in found] == [tuple(span) for span in tag_set.spans_of(best)]
    assert found, "the seed gives at least one entity"
    for span in found:
        share = sum(v for tags, v in every.items() if span[:3] in set(tag_set.spans_of(tags)))
        assert span.score == pytest.approx(share / sum(every.values()), abs=1e-4)
