"""The baseline of entity tagging: a linear-chain CRF over character features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zh_albert.tasks.evaluation import timed_baseline
from zh_albert.tasks.ner.alignment import SkippedEntities, to_tokens, without_overlaps
from zh_albert.tasks.ner.examples import EntityExample, EntitySpan, type_names
from zh_albert.tasks.ner.metrics import entity_metrics
from zh_albert.tasks.ner.tags import TagSet
from zh_albert.tasks.tagging.crf_baseline import CrfBaseline


def score_baseline(
    examples: Sequence[EntityExample], dev: Sequence[EntityExample]
) -> dict[str, Any]:
    """Fit BIOES tags of characters on ``examples``; return the scores on ``dev``, with both times.

    Raises:
        DataError: If there is no entity.
        MissingExtraError: If python-crfsuite is not installed.
    """
    types = type_names(examples)
    tag_set = TagSet.of(types)
    names = tag_set.names
    numbers = {name: number for number, name in enumerate(names)}

    def fit() -> CrfBaseline:
        tags = [[names[tag] for tag in _tags(example, tag_set)] for example in examples]
        return CrfBaseline([example.text for example in examples], tags)

    def predict(crf: CrfBaseline) -> list[list[EntitySpan]]:
        found = ([numbers[name] for name in crf.tag(example.text)] for example in dev)
        return [
            [EntitySpan(a, b + 1, types[type_id]) for a, b, type_id in tag_set.spans_of(tags)]
            for tags in found
        ]

    gold = [example.entities for example in dev]
    return timed_baseline(examples, dev, fit, predict, lambda found: entity_metrics(gold, found))


def _tags(example: EntityExample, tag_set: TagSet) -> list[int]:
    """Return the tag of each character; of entities that overlap the longest is kept."""
    type_ids = {name: index for index, name in enumerate(tag_set.types)}
    offsets = [(place, place + 1) for place in range(len(example.text))]
    spans = to_tokens(example.entities, offsets, type_ids, SkippedEntities())
    return tag_set.of_spans(without_overlaps(spans, SkippedEntities()), len(example.text))
