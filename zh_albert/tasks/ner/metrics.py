"""Entity metrics: exact spans of the exact type, counted over all texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from zh_albert.tasks.ner.examples import EntitySpan
from zh_albert.tasks.tagging.metrics import span_scores


def entity_metrics(
    gold: Sequence[Sequence[EntitySpan]], predicted: Sequence[Sequence[EntitySpan]]
) -> dict[str, Any]:
    """Return strict ``precision``, ``recall``, ``f1`` (micro), and the same per type.

    An entity counts only if start, end and type are right. A fraction without a denominator is 0.

    Args:
        gold: The entities of each text, without duplicates.
        predicted: The predicted entities of the same texts.

    Returns:
        The three scores, and ``per_type``: type → the three and ``support``, the entities of that
        type in ``gold``; sorted, with every type that occurs on either side.
    """
    hits: Counter[str] = Counter()
    in_gold: Counter[str] = Counter()
    in_predicted: Counter[str] = Counter()
    for ours, theirs in zip(gold, predicted, strict=True):
        in_gold.update(entity.type for entity in ours)
        in_predicted.update(entity.type for entity in theirs)
        hits.update(entity.type for entity in set(ours) & set(theirs))
    return {
        **span_scores(hits.total(), in_gold.total(), in_predicted.total()),
        "per_type": {
            name: {
                **span_scores(hits[name], in_gold[name], in_predicted[name]),
                "support": in_gold[name],
            }
            for name in sorted({*in_gold, *in_predicted})
        },
    }
