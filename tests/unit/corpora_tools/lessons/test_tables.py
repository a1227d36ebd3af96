"""Tables of words for lessons."""

from __future__ import annotations

import pytest

from corpora_tools.lessons import tables


@pytest.mark.parametrize(
    ("name", "least"),
    [("antonyms", 300), ("synonyms", 400), ("hypernyms", 200), ("frames", 150), ("scopes", 30)],
)
def test_a_table_has_many_different_rows(name, least):
    rows = [tuple(row) for row in tables.rows(name)]

    assert len(rows) >= least
    assert len(set(rows)) == len(rows)


def test_no_word_is_its_own_opposite_synonym_or_kind():
    for table in (tables.antonyms(), tables.synonyms(), tables.hypernyms()):
        assert not [word for word, others in table.items() if word in others]


def test_no_opposites_are_synonyms():
    pairs = {(word, other) for word, others in tables.antonyms().items() for other in others}

    assert not [pair for pair in pairs if pair[1] in tables.synonyms().get(pair[0], ())]


def test_every_frame_stands_between_names_that_there_are():
    assert {frame.kind for frame in tables.frames()} <= {*tables.entities(), "person"}
