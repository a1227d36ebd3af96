"""The answers of the tab of semantic search: what is missing, and what is read once."""

from __future__ import annotations

import pytest

from apps.examples import read_examples
from apps.tabs.search.answers import MAX_LINES, SearchAnswers
from apps.tabs.search.strings import CHINESE
from apps.text_answers import LIVE_CHARACTERS
from tests.helpers.counting_embedder import Counting

LINES = "上\n\n 中中 \n上中"


def answers() -> SearchAnswers:
    return SearchAnswers(CHINESE, Counting())


@pytest.mark.parametrize(
    ("question", "lines", "expected"),
    [
        ("", LINES, "还没有说要找什么"),
        ("上", " \n", "还没有要搜索的文本"),
        (None, None, "还没有要搜索的文本"),
        ("上", "上\n" * (MAX_LINES + 1), "文本有 2,001 条，网页最多搜索 2,000 条"),
        ("左", LINES, "问题里没有模型能读的字符"),
        ("上", "左\n左", "这段文本里没有模型能读的字符"),
    ],
)
def test_what_is_missing_is_told_with_a_remedy(
    question: str | None, lines: str | None, expected: str
) -> None:
    panel = answers().asked(question, lines)
    assert 'role="alert"' in panel
    assert expected in panel


def test_lines_stand_nearest_first_with_their_numbers() -> None:
    panel = answers().asked("中", f"{LINES}\n左")
    places = [panel.index(f'"za-name">{line}<') for line in ("中中", "上中", "上")]
    assert places == sorted(places)
    assert "共搜索 3 条。另有 1 条没有模型能读的字符。" in panel
    assert "<td>2</td>" in panel
    assert ">1.000</span>" in panel
    assert ">0.707</span>" in panel


def test_text_is_never_markup() -> None:
    panel = answers().asked("中<b>", "中<script>x</script>")
    assert "<b>" not in panel
    assert "<script>" not in panel


def test_long_texts_wait_for_the_button_once() -> None:
    tab, lines = answers(), "上中下\n" * LIVE_CHARACTERS
    assert len(lines.split()) <= MAX_LINES
    assert "请按“搜索”按钮读一遍" in tab.typed("上", lines)
    assert "共搜索 1,000 条" in tab.asked("上", lines)
    assert "共搜索 1,000 条" in tab.typed("中", lines)
    assert "结果会显示在这里" in tab.typed(" ", lines)
    assert "请按“搜索”按钮读一遍" in tab.typed("上", lines + "下")


def test_vectors_of_some_collections_are_kept() -> None:
    tab = answers()
    for number in range(12):
        tab.asked("上", "上\n" * (number + 1))
    kept = [len(one.texts) for one in tab._searches.values()]
    assert kept == [*range(5, 13)]


def test_examples_are_questions_in_other_words() -> None:
    for examples in read_examples("search").values():
        assert len({lines for (_, lines), _ in examples}) == 1
        for (question, lines), _ in examples:
            assert len(lines) < LIVE_CHARACTERS
            assert question not in lines
