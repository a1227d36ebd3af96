"""Rules that change the meaning by a word."""

from __future__ import annotations

import random

import pytest

from corpora_tools.lessons import harmful


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        (harmful.add_negation, "他会参加会议。", "他不会参加会议。"),
        (harmful.add_negation, "这家店的服务很好。", "这家店的服务不好。"),
        (harmful.remove_negation, "他不会参加会议。", "他会参加会议。"),
        (harmful.remove_negation, "我没有时间。", "我有时间。"),
        (harmful.opposite_word, "房价上涨了。", "房价下跌了。"),
        (harmful.opposite_word, "这个手机很贵。", "这个手机很便宜。"),
    ],
)
def test_a_word_changes_the_meaning(read, outcomes, rule, text, expected):
    assert expected in outcomes(rule, read(text))


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (harmful.add_negation, "你会来吗？"),
        (harmful.add_negation, "如果他会来就好。"),
        (harmful.remove_negation, "他不得不参加会议。"),
        (harmful.remove_negation, "这本书真不错。"),
        (harmful.remove_negation, "你去不去？"),
        (harmful.remove_negation, "没有人不知道这件事。"),
        (harmful.opposite_word, "我们去公园散步。"),
    ],
)
def test_a_rule_that_does_not_apply_safely_says_so(read, outcomes, rule, text):
    assert outcomes(rule, read(text)) == {None}


def test_where_it_was_is_another_kind_of_lesson_than_whose_it_is(read):
    placed, owned = read("他在北京工作。"), read("北京的房价很高。")

    assert harmful.other_place_or_time(placed, random.Random(1)) not in (None, placed.text)
    assert harmful.other_entity(placed, random.Random(1)) is None
    assert harmful.other_entity(owned, random.Random(1)) not in (None, owned.text)


def test_words_of_quantity_say_what_follows(read):
    sentence = read("所有学生都来了。")

    assert harmful.change_scope("entailment", sentence, random.Random(1)) == "有些学生来了。"
    assert harmful.change_scope("neutral", sentence, random.Random(1)) is None


@pytest.mark.parametrize(
    ("relation", "text"),
    [("contradiction", "全部学生参加了考试。"), ("contradiction", "有2只停牌。")],
)
def test_other_words_of_quantity_do_not_contradict(read, relation, text):
    assert harmful.change_scope(relation, read(text), random.Random(1)) is None
