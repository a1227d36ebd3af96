"""What all tabs answer alike: nothing typed, long texts, and models that fail."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from apps.i18n.notice import Notice
from apps.tabs.entities.strings import CHINESE, EntityStrings
from apps.text_answers import LIVE_CHARACTERS, MAX_CHARACTERS, TextAnswers, chosen_models
from zh_albert.errors import CheckpointError, DataError


class Echo(TextAnswers[EntityStrings]):
    """Answers two texts with themselves, or fails."""

    text_count = 2

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__(CHINESE)
        self.error = error

    def problem(self, texts: Sequence[str]) -> Notice | None:
        return None if texts[0] else CHINESE.empty

    def panel(self, texts: Sequence[str], chosen: str) -> str:
        if self.error:
            raise self.error
        return f"{texts[0]}|{texts[1]}|{chosen}"


def test_boxes_are_texts_and_then_the_chosen_model() -> None:
    assert Echo().asked("甲", "乙", "ner") == "甲|乙|ner"
    assert Echo().asked("甲", None) == "甲||"


def test_a_missing_text_is_an_error_only_when_asked() -> None:
    assert CHINESE.empty.problem in Echo().asked("", "乙")
    assert CHINESE.waiting.problem in Echo().typed("甲", " ")


def test_all_texts_together_are_counted() -> None:
    half = "好" * (LIVE_CHARACTERS // 2)
    assert Echo().typed(half, half) == f"{half}|{half}|"
    assert Echo().announced(half, half) == ""
    assert "1,001 个字符" in Echo().typed(half, half + "好")
    assert "正在读 1,001 个字符" in Echo().announced(half, half + "好")
    longest = "好" * MAX_CHARACTERS
    assert Echo().announced(longest, "好") == ""
    assert "超过了网页的上限 100,000 个" in Echo().typed(longest, "好")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (DataError("texts[0] is empty"), "没有模型能读的字符"),
        (CheckpointError("gone\nfor good"), "没能完成：gone for good"),
        (MemoryError(), "没能完成：MemoryError"),
    ],
)
def test_what_fails_is_told_in_one_line(error: Exception, told: str) -> None:
    assert told in Echo(error).asked("甲", "乙")


def test_a_tab_without_models_says_so_whatever_is_typed() -> None:
    tab = Echo()
    tab.unavailable = CHINESE.no_tagger
    for text in ("", "甲", "好" * (LIVE_CHARACTERS + 1)):
        assert CHINESE.no_tagger.problem in tab.typed(text, text)
        assert CHINESE.no_tagger.problem in tab.asked(text, text)
        assert tab.announced(text, text) == ""


def test_no_choice_means_all_models() -> None:
    models = {"a": 1, "b": 2}
    assert dict(chosen_models(models, "b")) == {"b": 2}
    assert dict(chosen_models(models, "")) == dict(chosen_models(models, "gone")) == models
