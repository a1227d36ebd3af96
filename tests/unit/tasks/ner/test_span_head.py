"""Entities as starts and ends."""

from __future__ import annotations

import torch

from tests.helpers.entity_heads import (
    answer,
    head_of,
    read,
)


def test_a_start_goes_with_the_nearest_end_of_its_type() -> None:
    head, text = head_of("span"), read(10, max_length=32)
    scores = torch.full((1, 12, 2, 2), -9.0)
    for kind, border, token in [(0, 0, 0), (0, 0, 2), (0, 1, 4), (0, 1, 6), (1, 0, 1), (1, 1, 5)]:
        scores[0, 1 + token, kind, border] = 9.0
    found = answer(head, text, scores)
    assert [span[:3] for span in found] == [(2, 4, 0), (1, 5, 1)]
