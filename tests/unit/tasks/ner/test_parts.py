"""Texts taken apart at their breaks."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from zh_albert.model.crf import fixed_transitions
from zh_albert.tasks.ner.parts import in_parts, without_crossing
from zh_albert.tasks.ner.tags import TagSet, best_spans

TAGS = TagSet.of(["人", "地"])


@given(seed=st.integers(0, 999), breaks=st.sets(st.integers(1, 11)).map(sorted))
def test_each_part_is_decoded_as_a_text_of_its_own(seed: int, breaks: list[int]) -> None:
    torch.manual_seed(seed)
    scores = [torch.randn(12, 9), torch.randn(5, 9)]
    transitions = fixed_transitions(TAGS.legal)
    found = best_spans(scores, transitions, TAGS, [breaks, []])
    edges = [0, *breaks, 12]
    alone = [
        (start + span.first, start + span.last, span.type_id)
        for start, end in pairwise(edges)
        for span in best_spans([scores[0][start:end]], transitions, TAGS, [[]])[0]
    ]
    assert [span[:3] for span in found[0]] == alone
    whole = best_spans(scores[1:], transitions, TAGS, [[]])[0]
    assert [span[:3] for span in found[1]] == [span[:3] for span in whole]
    assert [span.score for span in found[1]] == pytest.approx([span.score for span in whole])
    assert without_crossing(found[0], breaks) == found[0]


def test_texts_without_breaks_are_not_taken_apart() -> None:
    scores = [torch.zeros(3, 2), torch.zeros(4, 2)]
    seen: list[int] = []
    in_parts(scores, [(), ()], lambda parts: [seen.append(len(part)) or [] for part in parts])
    assert seen == [3, 4]
