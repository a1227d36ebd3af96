"""BIOES tags: legal transitions, and entities from tags."""

from __future__ import annotations

from tests.helpers.entity_heads import (
    SPANS,
)
from zh_albert.tasks.ner.alignment import TokenSpan
from zh_albert.tasks.ner.tags import (
    BEGIN,
    END,
    INSIDE,
    OUTSIDE,
    SINGLE,
    legal_transitions,
    spans_of,
    tag_of,
    tags_of,
)


def test_legal_transitions_are_those_of_bioes() -> None:
    legal = legal_transitions(2)
    b, i, e, s = (tag_of(0, part) for part in (BEGIN, INSIDE, END, SINGLE))
    others = [tag_of(1, part) for part in (BEGIN, INSIDE, END, SINGLE)]
    assert [tag for tag in range(9) if legal.start[tag]] == [OUTSIDE, b, s, others[0], others[3]]
    assert [tag for tag in range(9) if legal.end[tag]] == [OUTSIDE, e, s, others[2], others[3]]
    for begun in (b, i):
        assert [tag for tag in range(9) if legal.between[begun, tag]] == [i, e]
    for done in (OUTSIDE, e, s):
        allowed = [tag for tag in range(9) if legal.between[done, tag]]
        assert allowed == [OUTSIDE, b, s, others[0], others[3]]


def test_tags_and_entities_are_each_others_inverse() -> None:
    assert list(spans_of(tags_of(SPANS, 17))) == SPANS
    # What does not begin or does not end: I-x E-x, B-x E-y, B-x O, B-x B-x E-x
    broken = [2, 3, 1, 7, 1, 0, 1, 1, 3]
    assert list(spans_of(broken)) == [TokenSpan(7, 8, 0)]
