"""The reading tab's panel: the mark lies where the answer is, and text stays text."""

from __future__ import annotations

import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from apps.tabs.reading.panels import reading_panel
from apps.tabs.reading.strings import CHINESE
from tests.helpers.panel_reader import HOSTILE, OURS, PanelReader
from zh_albert.tasks.reading.predictor import Answer

TAGS = OURS | {"mark", "table", "tbody", "td", "th", "thead", "tr"}


FLOW = "za-flow za-passage"


def answer(passage: str, start: int, end: int, score: float = 0.5) -> Answer:
    return Answer(start, end, passage[start:end], score)


NONE = Answer(0, 0, "", 0.25)


@st.composite
def answered(draw: st.DrawFn) -> tuple[str, Answer]:
    passage = draw(st.text(st.characters(codec=None), min_size=1, max_size=40))
    start = draw(st.integers(0, len(passage) - 1))
    return passage, answer(passage, start, draw(st.integers(start + 1, len(passage))))


@given(answered())
def test_the_passage_is_the_users_own_and_the_mark_is_the_answer(case: tuple[str, Answer]) -> None:
    passage, best = case
    panel = reading_panel(CHINESE, "谁？", passage, [best, NONE], 0.01, predicts_no_answer=True)
    before, rest = panel.split('<mark class="za-found">')
    inside, _ = rest.split("</mark>")

    assert PanelReader(panel).flows[FLOW] == passage
    head = before[before.index(f'<p class="{FLOW}">') :]
    assert PanelReader(f"<div>{head}</p></div>").flows.get(FLOW, "") == passage[: best.start]
    marked = PanelReader(f'<div><p class="{FLOW}">{inside}</p></div>').flows[FLOW]
    assert marked == best.text
    assert set(PanelReader(panel).tags) <= TAGS


def test_the_table_lists_every_answer_with_place_and_probability() -> None:
    passage = "王芳在北京，李明在上海"
    found = [answer(passage, 3, 5, 0.613), NONE, answer(passage, 9, 11, 0.0001)]
    panel = reading_panel(CHINESE, "王芳在哪里？", passage, found, 0.0123, predicts_no_answer=True)

    rows = re.findall(r"<tr class=.*?</tr>", panel)
    assert ["za-winner" in row for row in rows] == [True, False, False]
    assert all(part in rows[0] for part in ("北京", "3–5", "61.3%"))
    assert "没有答案" in rows[1]
    assert "&lt;0.1%" in rows[2]
    assert PanelReader(panel).bars == [61.3, 25.0, 0.0]
    assert "12 ms" in panel
    assert CHINESE.scores_hint in panel


def test_no_answer_is_shown_as_such_and_marks_nothing() -> None:
    passage = "王芳在北京"
    panel = reading_panel(
        CHINESE,
        "几点？",
        passage,
        [NONE, answer(passage, 3, 5, 0.2)],
        0.01,
        predicts_no_answer=True,
    )

    assert "文中没有答案" in panel
    assert "<mark" not in panel
    assert PanelReader(panel).flows[FLOW] == passage


def test_a_reader_that_cannot_decline_is_said_to() -> None:
    panel = reading_panel(
        CHINESE, "谁？", "王芳", [answer("王芳", 0, 2)], 0.01, predicts_no_answer=False
    )

    assert CHINESE.scores_hint_without_none in panel
    can = reading_panel(
        CHINESE, "谁？", "王芳", [answer("王芳", 0, 2)], 0.01, predicts_no_answer=True
    )
    assert CHINESE.scores_hint in can


def test_hostile_text_is_only_text() -> None:
    panel = reading_panel(
        CHINESE, HOSTILE, HOSTILE, [answer(HOSTILE, 2, 40)], 0.0, predicts_no_answer=True
    )

    assert set(PanelReader(panel).tags) <= TAGS
    assert not set("$`{}@") & set(panel)
    assert HOSTILE[2:40].replace(" ", "␣") in unescape(re.sub("<[^>]*>", "", panel))
