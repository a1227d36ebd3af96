"""The grammar of the lessons of the bundled sentiment model."""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "recipes"))
from sentiment_grammar import GRAMMAR, MOST_AHEAD, Domain, Grammar, Lesson
from sentiment_lessons import ASKS, OPINION

from zh_albert import configio

COUNTS = {"positive": 400, "negative": 400, "neutral": 200}


@pytest.fixture(scope="module")
def lessons() -> list[Lesson]:
    return Grammar(GRAMMAR, random.Random(1)).lessons(COUNTS)


def test_there_are_as_many_different_texts_of_each_label_as_asked(lessons: list[Lesson]) -> None:
    assert Counter(lesson.label for lesson in lessons) == COUNTS
    assert len({lesson.text for lesson in lessons}) == len(lessons)


def test_every_slot_is_filled(lessons: list[Lesson]) -> None:
    assert not [lesson for lesson in lessons if re.search("[{}]", lesson.text)]


def test_no_quality_gets_ahead_in_texts_of_one_label() -> None:
    grammar = Grammar(GRAMMAR, random.Random(1))
    grammar.lessons({"positive": 500, "negative": 500})
    assert max(map(abs, grammar._ahead.values())) <= MOST_AHEAD


def test_the_same_seed_makes_the_same_texts(lessons: list[Lesson]) -> None:
    assert Grammar(GRAMMAR, random.Random(1)).lessons(COUNTS) == lessons


def test_each_domain_has_good_and_bad_words_of_three_aspects() -> None:
    for given in configio.read_toml(GRAMMAR)["domains"].values():
        domain = Domain(given)
        assert len(domain.aspects) >= 3
        assert all(good and bad for good, bad in domain.aspects.values())


def test_questions_and_opinions_are_told_from_other_texts() -> None:
    assert ASKS.search("怎么还款")
    assert not ASKS.search("昨天还款了")
    assert OPINION.search("太美了")
    assert not OPINION.search("本办法自2013年6月1日起施行。")
