"""The weight of n-grams beside a network, and the scale of both."""

from __future__ import annotations

import pytest
import torch

from zh_albert.tasks.classification.ensemble import tuned
from zh_albert.tasks.classification.heads import OneClass

HEAD = OneClass(["a", "b"])
GOLD = ["a", "b"] * 20


def sides(right: float, wrong: int) -> torch.Tensor:
    """Return logits that are right by so much, but for the first texts."""
    sign = torch.tensor([1.0 if label == "a" else -1.0 for label in GOLD])
    sign[:wrong] *= -1
    return torch.stack([right * sign, -right * sign], 1)


def test_the_weight_is_the_first_of_those_with_the_best_score() -> None:
    weight, _ = tuned(HEAD, sides(1.0, wrong=4), sides(0.4, wrong=0), GOLD, "accuracy")
    assert weight == 3.0  # 1 and 2 do not outweigh the network where it is wrong
    weight, _ = tuned(HEAD, sides(1.0, wrong=0), sides(0.4, wrong=4), GOLD, "accuracy")
    assert weight == 0.0


@pytest.mark.parametrize("given", [0.0, 2.0, 7.0])
def test_a_given_weight_stays_and_the_scale_is_chosen_for_it(given: float) -> None:
    logits, margins = sides(1.0, wrong=4), sides(0.4, wrong=0)
    weight, scale = tuned(HEAD, logits, margins, GOLD, "accuracy", given)
    assert weight == given

    def loss(factor: float) -> float:
        added = factor * (logits + given * margins)
        return float(HEAD.losses(added, HEAD.targets(GOLD)).mean())

    assert loss(scale) <= min(loss(scale / 1.1), loss(scale * 1.1)) or scale in (0.0324, 1.9487)
