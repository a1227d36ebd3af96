"""Rules that keep the meaning."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora_tools.lessons import harmless
from corpora_tools.lessons.sentence import Sentence
from zh_albert.compression.augmentation.tang import Word

WORDS = [
    *(Word(text, "n") for text in ("老师", "价格", "手机", "北京大学", "孩子")),
    *(Word(text, "v") for text in ("购买", "认为", "喜欢", "必须")),
    *(Word(text, "m") for text in ("2019", "3", "15%")),
    *(Word(text, "d") for text in ("不", "很", "又")),
    *(Word(text, "a") for text in ("贵", "干净", "方便")),
    *(Word(text, "p") for text in ("比", "把", "被")),
    *(Word(text, "r") for text in ("我", "他", "什么")),
    *(Word(text, "") for text in ("，", "。", "？")),
    Word("和", "c"),
    Word("昨天", "t"),
    Word("吗", "y"),
]


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        (harmless.use_synonyms, "我昨天购买了一部手机。", "我昨日选购了一部手机。"),
        (harmless.add_filler, "怎么去机场？", "请问，怎么去机场？"),
        (harmless.drop_filler, "请问怎么去机场？", "怎么去机场？"),
        (harmless.move_time, "昨天我在上海。", "我昨天在上海。"),
        (harmless.move_time, "我昨天在上海。", "昨天，我在上海。"),
        (harmless.swap_joined, "老师和学生都来了。", "学生和老师都来了。"),
        (harmless.turn_cause, "因为天气不好，所以他没有来。", "他没有来，因为天气不好。"),
        (harmless.turn_condition, "如果明天下雨，我就不去了。", "要是明天下雨的话，我就不去了。"),
        (harmless.swap_parallel, "这个苹果又大又甜。", "这个苹果又甜又大。"),
        (harmless.turn_disposal, "他把老师打了。", "老师被他打了。"),
        (harmless.turn_disposal, "他被老师批评了。", "老师把他批评了。"),
        (harmless.turn_comparison, "苹果比香蕉贵。", "香蕉比苹果便宜。"),
        (harmless.turn_comparison, "苹果比香蕉贵。", "香蕉没有苹果贵。"),
        (harmless.deny_opposite, "这个手机很贵。", "这个手机不便宜。"),
        (harmless.double_negation, "我必须参加会议。", "我不得不参加会议。"),
        (harmless.turn_question, "周末能退货吗？", "周末能不能退货？"),
        (harmless.turn_question, "周末能不能退货？", "周末可以退货吗？"),
    ],
)
def test_the_words_change_and_the_meaning_does_not(read, outcomes, rule, text, expected):
    assert expected in outcomes(rule, read(text))


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (harmless.turn_question, "这个功能好用吗？"),  # 能 is part of a word
        (harmless.swap_joined, "大学老师和学生会主席来了。"),
        (harmless.deny_opposite, "这条路很长一段没有灯。"),
        (harmless.deny_opposite, "这个手机不贵。"),  # nor is it cheap
        (harmless.drop_filler, "说实话的时候也要注意方法。"),
        (harmless.drop_filler, "实际上的结果很好。"),
        (harmless.double_negation, "必须加快速度。"),
    ],
)
def test_what_would_change_the_meaning_is_left_alone(read, outcomes, rule, text):
    assert outcomes(rule, read(text)) == {None}


@given(st.lists(st.sampled_from(WORDS), min_size=3, max_size=14), st.integers(0, 99))
def test_no_rule_of_words_changes_a_digit(words, seed):
    sentence = Sentence(tuple(words))
    for rule in harmless.HARMLESS:
        changed = rule.change(sentence, random.Random(seed))
        if changed is not None and rule.kind != "number_form":
            assert sorted(re.findall(r"\d+", changed)) == sorted(re.findall(r"\d+", sentence.text))
