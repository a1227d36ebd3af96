"""Meanings in several forms."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from corpora_tools.lessons.grammar import make_meaning, patterns


@given(st.integers(0, 10_000))
def test_other_meanings_are_told_in_other_sentences(seed):
    meaning = make_meaning(random.Random(seed))

    assert len(meaning.forms) > 2
    for altered in meaning.altered:
        assert not set(altered.forms) & set(meaning.forms)
    for form in meaning.forms:
        assert "{" not in form


def test_every_meaning_has_another_one():
    assert all(one.exchanges or one.others for one in patterns())


def test_questions_can_be_left_out():
    kinds = {make_meaning(random.Random(seed), questions=False).kind for seed in range(400)}

    assert "actions" not in kinds
    assert "roles" in kinds
