"""The ensemble of a network and an n-gram model: the weight of its members, and its calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from zh_albert.tasks.classification.heads import HeadName, LabelHead
from zh_albert.tasks.fields import Label

# Weights of the n-gram model's margins: candidates to choose from on dev examples, and the default
# without any. With many classes of few texts the network is overconfident and margins are small.
_WEIGHTS: Mapping[HeadName, tuple[float, ...]] = {
    "classes": (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0, 24.0, 32.0, 48.0),
    "regression": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.0, 4.0),
}
_WEIGHT: Mapping[HeadName, float] = {"classes": 5.0, "regression": 0.4}
# Candidates for the scale of the sum of both members' logits.
_SCALES = tuple(round(1.1**power, 4) for power in range(-36, 8))  # 0.03 to 1.95


def untuned(head: LabelHead) -> tuple[float, float]:
    """Return the default n-gram weight and scale of the sum, used without dev examples."""
    weight = _WEIGHT.get(head.name, 0.0)
    # Class scores are a sum of logits, a value is a mean of two.
    return weight, 1 / (1 + weight) if head.name == "regression" else 1.0


def tuned(
    head: LabelHead,
    logits: Tensor,
    margins: Tensor,
    gold: Sequence[Label],
    metric: str,
    weight: float | None = None,
) -> tuple[float, float]:
    """Choose the n-gram weight by a metric, then the scale by cross-entropy.

    The scale is needed because summed logits of two members are overconfident.

    Args:
        head: The head whose metrics and loss are used.
        logits: Logits of the network. Shape: (texts, labels).
        margins: Margins of the n-gram model. Shape: (texts, labels).
        gold: The right labels.
        metric: One of the head's scores.
        weight: Of the n-grams, if it is not to be chosen.
    """
    targets = head.targets(gold)

    def score(weight: float) -> float:
        return head.metrics(gold, head.scores(logits + weight * margins))[metric]

    if weight is None:
        weight = max(_WEIGHTS[head.name], key=score)
    added = logits + weight * margins
    scale = min(_SCALES, key=lambda scale: float(head.losses(scale * added, targets).mean()))
    return weight, scale
