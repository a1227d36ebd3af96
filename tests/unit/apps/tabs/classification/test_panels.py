"""The classification tab's panel: cards with bars, ensemble members, and agreement."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apps.markup.bars import MAX_BARS
from apps.markup.class_card import ClassAnswer
from apps.tabs.classification.panels import agreement, classification_panel, members_table
from apps.tabs.classification.strings import CHINESE, ENGLISH, ClassificationStrings
from tests.helpers.class_answers import class_answer
from tests.helpers.panel_reader import HOSTILE, OURS, PanelReader, check_is_only_text
from zh_albert.tasks.classification.predictor import Classification, EnsembleMembers

TAGS = OURS | {"h4", "table", "tbody", "td", "th", "thead", "tr"}


def said(**scores: float) -> Classification:
    label = max(scores, key=lambda name: scores[name])
    ranked = dict(sorted(scores.items(), key=lambda pair: -pair[1]))
    return Classification(label, scores[label], ranked)


NETWORK, NGRAMS = said(a=0.5, b=0.3, c=0.2), said(a=0.1, b=0.6, c=0.3)


BOTH = said(a=0.172, b=0.621, c=0.207)


MEMBERS = EnsembleMembers(together=BOTH, network=NETWORK, ngrams=NGRAMS)


def test_a_classification_shows_bars_with_chinese_names_and_the_winner() -> None:
    panel = classification_panel(
        CHINESE, "好吃！", [class_answer({"positive": 0.973, "negative": 0.027})]
    )

    assert PanelReader(panel).bars == [97.3, 2.7]
    assert "好评" in panel
    assert '<span class="za-raw">positive</span>' in panel
    assert panel.count("za-winner") == 1
    assert panel.index("za-winner") < panel.index("差评")
    assert 'style="width:97.3%"' in panel
    assert "12 ms" in panel


def test_two_models_stand_side_by_side() -> None:
    news = class_answer({"news_finance": 0.5, "news_car": 0.5}, "news")
    panel = classification_panel(
        CHINESE, "股市", [class_answer({"positive": 1.0, "negative": 0.0}), news]
    )

    assert panel.count("<section") == 2
    assert "财经" in panel
    assert "情感" in panel


def test_many_classes_share_the_last_bar() -> None:
    scores = {f"类{i}": 1 / 119 for i in range(119)}
    panel = classification_panel(CHINESE, "应用", [class_answer(scores, "iflytek")])

    bars = PanelReader(panel).bars
    assert len(bars) == MAX_BARS + 1
    assert sum(bars) == pytest.approx(100)
    assert "其余 99 类合计" in panel


def test_labels_without_a_chinese_name_are_shown_as_they_are() -> None:
    panel = classification_panel(CHINESE, "x", [class_answer({"<b>退款</b>": 1.0}, "my <model>")])

    assert CHINESE.page.names.of_class("退款") == "退款"
    assert "&lt;b&gt;退款&lt;/b&gt;" in panel
    assert set(PanelReader(panel).tags) <= OURS


@given(text=st.text(st.characters(codec=None), max_size=60))
@example(text=HOSTILE)
def test_user_text_brings_no_element_and_no_attribute(text: str) -> None:
    answers = [class_answer({text: 0.6, "negative": 0.4}, text)]
    check_is_only_text(classification_panel(CHINESE, text, answers))


def test_each_class_has_a_row_with_what_either_part_and_both_say() -> None:
    table = members_table(CHINESE, MEMBERS)

    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</th>(.*?)</tr>", table)
    assert [name for name, _ in rows] == ["b", "c", "a"]
    assert re.findall(r"(\d+\.\d)%</span>", rows[2][1]) == ["50.0", "10.0", "17.2"]
    assert [row.count("za-top") for _, row in rows] == [2, 0, 1]


def test_the_classes_shown_are_the_likeliest_of_any_part() -> None:
    many = {f"c{i}": 0.06 for i in range(15)}
    network = said(**{**many, "c14": 0.16})
    ngrams = said(**{**many, "c13": 0.16})
    found = members_table(
        CHINESE, EnsembleMembers(together=said(**many), network=network, ngrams=ngrams)
    )

    names = re.findall(r'<th scope="row">(.*?)</th>', found)
    assert len(names) == 4
    assert {"c13", "c14"} <= set(names)


def test_a_classifier_without_ngrams_is_not_taken_apart() -> None:
    alone = EnsembleMembers(together=BOTH, network=BOTH, ngrams=None)
    panel = classification_panel(CHINESE, "好", [ClassAnswer("a", BOTH, 0.01, alone)])

    assert "<table" not in panel
    assert CHINESE.members_hint not in panel
    with_ngrams = classification_panel(CHINESE, "好", [ClassAnswer("a", BOTH, 0.01, MEMBERS)])
    assert with_ngrams.count("<table") == 1
    assert "两份概率逐类相乘" in with_ngrams


def test_models_of_the_same_classes_are_said_to_agree_or_not() -> None:
    good, bad = said(positive=0.9, negative=0.1), said(positive=0.2, negative=0.8)

    def agreed(strings: ClassificationStrings, **results: Classification) -> str:
        return agreement(strings, [ClassAnswer(name, one, 0.01) for name, one in results.items()])

    assert "看法一致：好评" in agreed(CHINESE, sentiment=good, mine=good)
    assert "看法不一：情感 好评 · mine 差评" in agreed(CHINESE, sentiment=good, mine=bad)
    assert "They agree: Positive" in agreed(ENGLISH, x=good, y=good)
    assert agreed(CHINESE, sentiment=good, news=BOTH) == ""
    assert agreed(CHINESE, sentiment=good) == ""


def test_names_of_models_and_classes_are_only_text() -> None:
    hostile = said(**{HOSTILE: 0.7, "b": 0.3})
    members = EnsembleMembers(together=hostile, network=hostile, ngrams=hostile)
    answers = [ClassAnswer(name, hostile, 0.01, members) for name in (HOSTILE, "b")]

    assert set(PanelReader(classification_panel(CHINESE, "好", answers)).tags) <= TAGS
