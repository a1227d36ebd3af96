"""The ensemble of a network and an n-gram model: the weight of its members, and its calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from zh_albert.tasks.classification.heads import HeadName, LabelHead
from zh_albert.tasks.fields import Label

# Logits that a margin of 1 of the n-grams is worth: to choose from on dev examples, and without
# any. With many classes of few texts the network is far too sure, and margins are narrow.
_WEIGHTS: Mapping[HeadName, tuple[float, ...]] = {
    "classes": (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0, 24.0, 32.0, 48.0),
    "regression": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.0, 4.0),
}
_WEIGHT: Mapping[HeadName, float] = {"classes": 5.0, "regression": 0.4}
# Factors of the sum of both members' logits, to choose from.
_SCALES = tuple(round(1.1**power, 4) for power in range(-36, 8))  # 0.03 to 1.95


def untuned(head: LabelHead) -> tuple[float, float]:
    """Return the weight of the n-grams and the scale of the sum, where no dev examples decide."""
    weight = _WEIGHT.get(head.name, 0.0)
    # Probabilities are those of a sum of logits, a value is a mean of two.
    return weight, 1 / (1 + weight) if head.name == "regression" else 1.0


def tuned(
    head: LabelHead, logits: Tensor, margins: Tensor, gold: Sequence[Label]
) -> tuple[float, float]:
    """Choose the weight of the n-grams by the head's metric, then the scale by cross-entropy.

    Logits of two members that were added up are surer of themselves than they should be.

    Args:
        head: Its metric and its loss decide.
        logits: Of the network. Shape: (texts, labels).
        margins: Of the n-grams. Shape: (texts, labels).
        gold: The right labels.
    """
    targets = head.targets(gold)

    def score(weight: float) -> float:
        return head.metrics(gold, head.scores(logits + weight * margins))[head.metric]

    weight = max(_WEIGHTS[head.name], key=score)
    added = logits + weight * margins
    scale = min(_SCALES, key=lambda scale: float(head.losses(scale * added, targets).mean()))
    return weight, scale
