"""Strict entity scores, by hand and against nervaluate and seqeval."""

from __future__ import annotations

import random
import warnings

import pytest
from nervaluate import Evaluator
from seqeval.metrics import classification_report

from zh_albert.tasks.ner.examples import EntitySpan
from zh_albert.tasks.ner.metrics import entity_metrics

TYPES = ["LOC", "ORG", "PER"]
LENGTH = 30


def test_only_exact_spans_of_the_exact_type_count() -> None:
    gold = [[EntitySpan(0, 2, "LOC"), EntitySpan(4, 6, "PER")], [EntitySpan(0, 3, "ORG")], []]
    predicted = [
        [EntitySpan(0, 2, "LOC"), EntitySpan(4, 6, "ORG"), EntitySpan(4, 7, "PER")],
        [],
        [EntitySpan(1, 2, "LOC")],
    ]
    scores = entity_metrics(gold, predicted)
    assert (scores["precision"], scores["recall"], scores["f1"]) == (1 / 4, 1 / 3, 2 / 7)
    assert scores["per_type"]["LOC"] == {"precision": 0.5, "recall": 1, "f1": 2 / 3, "support": 1}
    assert scores["per_type"]["PER"] == {"precision": 0, "recall": 0, "f1": 0, "support": 1}
    assert list(scores["per_type"]) == TYPES


def test_nothing_to_find_and_nothing_found_is_zero() -> None:
    assert entity_metrics([[]], [[]]) == {"precision": 0, "recall": 0, "f1": 0, "per_type": {}}


def flat_entities(rng: random.Random) -> list[EntitySpan]:
    """Entities side by side at most, so that tags can say them too."""
    entities, place = [], rng.randrange(4)
    while place < LENGTH - 4:
        end = place + rng.randint(1, 4)
        entities.append(EntitySpan(place, end, rng.choice(TYPES)))
        place = end + rng.randrange(4)
    return entities


def disturbed(entities: list[EntitySpan], rng: random.Random) -> list[EntitySpan]:
    """The same, some missing, some of another type, some a character shorter."""
    kept = [entity for entity in entities if rng.random() < 0.8]
    kept = [e._replace(type=rng.choice(TYPES)) if rng.random() < 0.3 else e for e in kept]
    return [
        e._replace(end=e.end - 1) if e.end - e.start > 1 and rng.random() < 0.2 else e for e in kept
    ]


@pytest.fixture(scope="module")
def data() -> tuple[list[list[EntitySpan]], list[list[EntitySpan]]]:
    rng = random.Random(0)
    gold = [flat_entities(rng) if index % 7 else [] for index in range(60)]
    return gold, [disturbed(entities, rng) for entities in gold]


def test_scores_equal_nervaluates_strict_ones(data: tuple[list, list]) -> None:
    def rows(texts: list[list[EntitySpan]]) -> list[list[dict[str, object]]]:
        return [  # its ends are included
            [{"label": e.type, "start": e.start, "end": e.end - 1} for e in text] for text in texts
        ]

    expected = Evaluator(*map(rows, data), tags=TYPES, loader="dict").evaluate()
    ours = entity_metrics(*data)
    assert 0.3 < ours["f1"] < 0.9
    for name in ("precision", "recall", "f1"):
        assert ours[name] == pytest.approx(getattr(expected["overall"]["strict"], name))
        for kind in TYPES:
            theirs = getattr(expected["entities"][kind]["strict"], name)
            assert ours["per_type"][kind][name] == pytest.approx(theirs)


def test_scores_equal_seqevals(data: tuple[list, list]) -> None:
    def tags(texts: list[list[EntitySpan]]) -> list[list[str]]:
        rows = []
        for text in texts:
            row = ["O"] * LENGTH
            for start, end, kind in text:
                row[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)]
            rows.append(row)
        return rows

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of a library that is no longer maintained
        report = classification_report(*map(tags, data), output_dict=True, zero_division=0)
    ours = entity_metrics(*data)
    for name, theirs in (("precision", "precision"), ("recall", "recall"), ("f1", "f1-score")):
        assert ours[name] == pytest.approx(report["micro avg"][theirs])
        for kind in TYPES:
            assert ours["per_type"][kind][name] == pytest.approx(report[kind][theirs])
    assert {kind: report[kind]["support"] for kind in TYPES} == {
        kind: scores["support"] for kind, scores in ours["per_type"].items()
    }
