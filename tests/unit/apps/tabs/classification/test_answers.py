"""The classification tab's answers: all models or one, long texts, and what cannot be read."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from apps.tabs.classification.answers import ClassificationAnswers
from apps.tabs.classification.strings import CHINESE
from apps.text_answers import MAX_CHARACTERS
from zh_albert.errors import DataError
from zh_albert.tasks.classification.predictor import Classification, Classifier, EnsembleMembers
from zh_albert.tasks.texts import Content


class ClassifierOf(Classifier):
    """Says what it was made with, of any text."""

    def __init__(self, result: Classification | Exception) -> None:
        self._result = result

    def members(self, text: Content) -> EnsembleMembers:
        if isinstance(self._result, Exception):
            raise self._result
        return EnsembleMembers(together=self._result, network=self._result, ngrams=None)


POSITIVE = Classification("positive", 0.9, {"positive": 0.9, "negative": 0.1})


MODELS = {"sentiment": ClassifierOf(POSITIVE), "mine": ClassifierOf(POSITIVE)}


def answers(models: Mapping[str, Classifier] = MODELS) -> ClassificationAnswers:
    return ClassificationAnswers(CHINESE, models)


def test_a_chosen_model_answers_alone_and_no_choice_means_all() -> None:
    assert answers().asked("好", "mine").count("<section") == 1
    assert answers().asked("好", "").count("<section") == 2
    assert answers().asked("好", None).count("<section") == 2


@pytest.mark.parametrize(
    ("models", "text", "expected"),
    [
        (MODELS, "", "请先输入要分类的文本"),
        (MODELS, None, "请先输入要分类的文本"),
        (MODELS, "好" * (MAX_CHARACTERS + 1), "超过了网页的上限 100,000 个"),
        ({"a": ClassifierOf(DataError("texts[0] is empty"))}, " \0", "没有模型能读的字符"),
        (
            {"a": ClassifierOf(RuntimeError("not enough\nmemory <b>"))},
            "好",
            "not enough memory &lt;b&gt;",
        ),
        ({}, "好", "还没有附带的分类模型"),
    ],
)
def test_what_cannot_be_classified_is_explained_in_chinese(
    models: dict[str, Classifier], text: str | None, expected: str
) -> None:
    assert expected in answers(models).asked(text, "")


def test_while_typing_nothing_is_an_error_and_a_long_text_waits_for_the_button() -> None:
    assert "结果会显示在这里" in answers().typed(" \n", "")
    assert "还没有附带的分类模型" in answers({}).typed("", None)
    assert "好评" in answers().typed("好" * 1000, "")
    assert "请按“分类”按钮" in answers().typed("好" * 1001, "")
    assert "超过了网页的上限" in answers().typed("好" * (MAX_CHARACTERS + 1), "")


def test_a_long_text_that_was_asked_for_is_announced_first() -> None:
    assert answers().announced("好" * 1000) == answers().announced("") == ""
    assert "正在读 1,001 个字符" in answers().announced("好" * 1001)
