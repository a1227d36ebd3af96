"""Cuts of long training texts."""

from __future__ import annotations

from zh_albert.tasks.tagging.cuts import cuts


def test_a_long_training_text_is_cut_between_entities() -> None:
    spans = [(3, 4), (2, 5), (9, 30)]
    found = list(cuts(33, spans, limit=5))
    assert [len(part) for part in found][:2] == [2, 5]
    assert [token for part in found for token in part] == list(range(33))
    assert all(len(part) <= 5 for part in found)
    assert list(cuts(4, spans, limit=5)) == [range(4)]
    assert list(cuts(0, [], limit=5)) == []
