"""Groups of partners, and pairs of lessons of equal overlap."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from corpora_tools.lessons.groups import (
    Group,
    Partner,
    group_of_sentence,
    lessons_of,
    overlap,
    reversed_group,
)
from zh_albert.compression.augmentation.tang import tagger

TEXT = "他把小王打了。"
SAME = Partner("小王被他打了。", "turned", "entailment", 4.8)
SWAPPED = Partner("小王把他打了。", "swapped", "contradiction", 1.2)
FAR = Partner("昨天他在上海。", "far", "contradiction", 1.0)


@given(st.text("我你他打", min_size=1), st.text("我你他打", min_size=1))
def test_overlap_is_a_share_and_the_same_both_ways(one, other):
    assert 0 <= overlap(one, other) == overlap(other, one) <= 1
    assert overlap(one, one) == 1


def test_a_pair_of_lessons_has_nearly_the_same_overlap():
    lessons = list(
        lessons_of(Group(TEXT, [SAME, SWAPPED, FAR]), "similarity", Counter(), random.Random(1))
    )

    assert {lesson["kind"] for lesson in lessons} == {"turned", "swapped"}
    assert {lesson["label"] for lesson in lessons} == {4.8, 1.2}


def test_nothing_is_told_that_overlap_gives_away():
    group = Group(TEXT, [SAME, FAR])

    assert not list(lessons_of(group, "similarity", Counter(), random.Random(1)))


def test_a_premise_is_the_first_text_of_nli():
    group = Group(TEXT, [SAME, SWAPPED])

    for seed in range(10):
        for lesson in lessons_of(group, "nli", Counter(), random.Random(seed)):
            assert lesson["text_a"].rstrip("。") == TEXT.rstrip("。")
            assert lesson["label"] in ("entailment", "contradiction")


def test_a_rarer_label_comes_first():
    used = Counter({"entailment": 50, "contradiction": 50, "neutral": 0})

    assert not list(lessons_of(Group(TEXT, [SAME, SWAPPED]), "nli", used, random.Random(1)))


def test_partners_of_a_question_are_for_similarity_alone():
    tag = tagger()

    assert group_of_sentence("周末能退货吗？", "similarity", tag, random.Random(1)).partners
    assert not group_of_sentence("周末能退货吗？", "nli", tag, random.Random(1)).partners


def test_a_partner_that_says_less_leaves_the_sentence_neutral():
    tag = tagger()
    less = Partner("他去了上海。", "time_dropped", "entailment", None)

    group = reversed_group(Group("他昨天去了上海。", [less]), "nli", tag, random.Random(1))

    assert group.text == less.text
    assert group.partners[-1] == Partner(
        "他昨天去了上海。", "time_dropped_reversed", "neutral", None
    )
