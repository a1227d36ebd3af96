"""The reading tab's answers: missing texts, long passages, and what fails."""

from __future__ import annotations

from typing import Any

import pytest

from apps.examples import read_examples
from apps.tabs.reading.answers import ReadingAnswers
from apps.tabs.reading.strings import CHINESE
from apps.text_answers import LIVE_CHARACTERS, MAX_CHARACTERS
from zh_albert.errors import DataError
from zh_albert.tasks.reading.predictor import Answer, Reader


class ReaderOf(Reader):
    """Answers what it was made with."""

    def __init__(self, answers: list[Answer] | Exception) -> None:
        self._answers, self.predicts_no_answer = answers, True

    def __call__(self, *_: Any, **__: Any) -> Any:
        if isinstance(self._answers, Exception):
            raise self._answers
        return self._answers


NONE = Answer(0, 0, "", 0.25)


def answers(found: list[Answer] | Exception) -> ReadingAnswers:
    return ReadingAnswers(CHINESE, ReaderOf(found))


@pytest.mark.parametrize(
    ("question", "passage", "expected"),
    [
        ("", "王芳在北京", "请先提一个问题"),
        (None, None, "请先提一个问题"),
        ("谁？", " \n", "请先输入短文"),
        ("谁？", "\u200b", "这段文本里没有模型能读的字符"),
        ("谁？", "王" * MAX_CHARACTERS, "超过了网页的上限 100,000 个"),
    ],
)
def test_what_is_missing_is_told_with_a_remedy(
    question: str | None, passage: str | None, expected: str
) -> None:
    panel = answers([NONE]).asked(question, passage)

    assert 'role="alert"' in panel
    assert expected in panel


def test_what_the_reader_refuses_is_told() -> None:
    refusing, failing = answers(DataError("questions[0] is empty")), answers(MemoryError("out"))

    assert "问题里没有模型能读的字符" in refusing.asked("\0", "王芳")
    assert "没能完成：out" in failing.asked("谁？", "王芳")


def test_while_typing_nothing_is_an_error_and_a_long_passage_waits() -> None:
    tab, passage = answers([NONE]), "王" * LIVE_CHARACTERS

    assert "答案会显示在这里" in tab.typed("谁？", "")
    assert "答案会显示在这里" in tab.typed(" ", "王芳")
    assert "请按“找答案”按钮" in tab.typed("谁？", passage)
    assert "正在读 1,002 个字符" in tab.announced("谁？", passage)
    assert tab.announced("谁？", "王芳") == ""
    assert "文中没有答案" in tab.typed("谁？", "王芳")


def test_the_examples_can_be_answered_from_their_passages() -> None:
    for examples in read_examples("reading").values():
        assert len(examples) >= 3
        assert len({passage for (_, passage), _ in examples}) == 1
        assert len(examples[0].texts[1]) < LIVE_CHARACTERS
