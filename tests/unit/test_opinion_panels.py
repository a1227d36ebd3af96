"""The scores of a classifier's ensemble members, and whether two of them agree."""

from __future__ import annotations

import re

from apps.opinion_panels import agreement, opinions_table
from apps.panels import Answer, classification_panel
from apps.texts.languages import CHINESE, ENGLISH
from tests.panel_reader import HOSTILE, OURS, Reader
from zh_albert.tasks.classification.predictor import Classification, EnsembleMembers

TAGS = OURS | {"h4", "table", "tbody", "td", "th", "thead", "tr"}


def said(**scores: float) -> Classification:
    label = max(scores, key=lambda name: scores[name])
    ranked = dict(sorted(scores.items(), key=lambda pair: -pair[1]))
    return Classification(label, scores[label], ranked)


NETWORK, NGRAMS = said(a=0.5, b=0.3, c=0.2), said(a=0.1, b=0.6, c=0.3)
BOTH = said(a=0.172, b=0.621, c=0.207)
OPINIONS = EnsembleMembers(together=BOTH, network=NETWORK, ngrams=NGRAMS)


def test_each_class_has_a_row_with_what_either_part_and_both_say() -> None:
    table = opinions_table(CHINESE, OPINIONS)

    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</th>(.*?)</tr>", table)
    assert [name for name, _ in rows] == ["b", "c", "a"]
    assert re.findall(r"(\d+\.\d)%</span>", rows[2][1]) == ["50.0", "10.0", "17.2"]
    assert [row.count("za-top") for _, row in rows] == [2, 0, 1]


def test_the_classes_shown_are_the_likeliest_of_any_part() -> None:
    many = {f"c{i}": 0.06 for i in range(15)}
    network = said(**{**many, "c14": 0.16})
    ngrams = said(**{**many, "c13": 0.16})
    found = opinions_table(
        CHINESE, EnsembleMembers(together=said(**many), network=network, ngrams=ngrams)
    )

    names = re.findall(r'<th scope="row">(.*?)</th>', found)
    assert len(names) == 4
    assert {"c13", "c14"} <= set(names)


def test_a_classifier_without_ngrams_is_not_taken_apart() -> None:
    alone = EnsembleMembers(together=BOTH, network=BOTH, ngrams=None)
    panel = classification_panel(CHINESE, "好", [Answer("a", BOTH, 0.01, alone)])

    assert "<table" not in panel
    assert CHINESE.opinions.hint not in panel
    with_ngrams = classification_panel(CHINESE, "好", [Answer("a", BOTH, 0.01, OPINIONS)])
    assert with_ngrams.count("<table") == 1
    assert "两份概率逐类相乘" in with_ngrams


def test_models_of_the_same_classes_are_said_to_agree_or_not() -> None:
    good, bad = said(positive=0.9, negative=0.1), said(positive=0.2, negative=0.8)

    assert "看法一致：好评" in agreement(CHINESE, [("sentiment", good), ("mine", good)])
    differ = agreement(CHINESE, [("sentiment", good), ("mine", bad)])
    assert "看法不一：情感 好评 · mine 差评" in differ
    assert "They agree: Positive" in agreement(ENGLISH, [("x", good), ("y", good)])
    assert agreement(CHINESE, [("sentiment", good), ("news", BOTH)]) == ""
    assert agreement(CHINESE, [("sentiment", good)]) == ""


def test_names_of_models_and_classes_are_only_text() -> None:
    hostile = said(**{HOSTILE: 0.7, "b": 0.3})
    members = EnsembleMembers(together=hostile, network=hostile, ngrams=hostile)
    answers = [Answer(name, hostile, 0.01, members) for name in (HOSTILE, "b")]

    assert set(Reader(classification_panel(CHINESE, "好", answers)).tags) <= TAGS
