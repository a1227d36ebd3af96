"""Entities as pairs of tokens."""

from __future__ import annotations

import torch

from tests.helpers.entity_heads import (
    answer,
    head_of,
    perfect_scores,
    read,
)
from zh_albert.tasks.ner.alignment import SkippedEntities, TokenSpan
from zh_albert.tasks.ner.heads import Passage


def test_an_entity_longer_than_a_window_is_no_pair() -> None:
    skipped = SkippedEntities()
    passage = Passage(read(40), [TokenSpan(3, 30, 0), TokenSpan(5, 6, 0)])
    assert head_of("global_pointer").teachable(passage, skipped) == [TokenSpan(5, 6, 0)]
    assert skipped.too_long == 1
    assert "longer than a window" in str(SkippedEntities(entities=2, too_long=1))


def test_an_untrained_pointer_does_not_answer_with_every_pair() -> None:
    head, text = head_of("global_pointer"), read(20, max_length=32)
    assert len(answer(head, text, torch.ones(1, 2, 22, 22))) == 2 * 20


def test_one_token_may_be_of_every_type() -> None:
    passage = Passage(read(1), [TokenSpan(0, 0, 0), TokenSpan(0, 0, 1)])
    found = answer(
        head_of("global_pointer"), passage.text, perfect_scores("global_pointer", passage, 3)
    )
    assert sorted(span[:3] for span in found) == [(0, 0, 0), (0, 0, 1)]
