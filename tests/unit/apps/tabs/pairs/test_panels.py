"""The panel of sentence pairs: values on their scale, and text stays text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.markup.class_card import ClassAnswer
from apps.tabs.pairs.panels import ValueAnswer, pair_panel
from apps.tabs.pairs.strings import CHINESE
from tests.helpers.panel_reader import HOSTILE, OURS, PanelReader
from zh_albert.tasks.classification.predictor import Classification

INFERRED = Classification("entailment", 0.8, {"entailment": 0.8, "neutral": 0.2})


@pytest.mark.parametrize(
    ("value", "lowest", "highest", "width"),
    [(4.0, 0, 5, "80.0%"), (5.7, 0, 5, "100.0%"), (-1, 0, 5, "0.0%"), (3, None, None, "")],
)
def test_a_value_stands_on_its_scale(
    value: float, lowest: float | None, highest: float | None, width: str
) -> None:
    panel = pair_panel(
        CHINESE, ["甲", "乙"], [ValueAnswer("similarity", value, 0.01, lowest, highest)]
    )
    assert f"<strong>{value:.1f}</strong>" in panel
    assert (f'style="width:{width}"' in panel) if width else "meter" not in panel
    assert set(PanelReader(panel).tags) <= OURS


def test_why_a_value_is_low_is_told() -> None:
    differences = [("number", "3天", "５天<"), ("negation", "", "不")]
    panel = pair_panel(
        CHINESE, ["甲", "乙"], [ValueAnswer("similarity", 2, 0.01, 0, 5, differences)]
    )
    assert "两句看起来很像" in panel
    assert "数字不同：3天 ↔ ５天&lt;" in panel
    assert "一句有否定：∅ ↔ 不" in panel
    assert set(PanelReader(panel).tags) <= OURS
    assert "看起来很像" not in pair_panel(
        CHINESE, ["甲", "乙"], [ValueAnswer("similarity", 2, 0.01, 0, 5)]
    )


@given(first=st.text(st.characters(codec=None), max_size=80), second=st.just(HOSTILE))
def test_sentences_are_only_ever_text(first: str, second: str) -> None:
    panel = pair_panel(CHINESE, [first, second], [ClassAnswer(first, INFERRED, 0.01)])

    assert set(PanelReader(panel).tags) <= OURS
    assert not set("$`{}@") & set(panel)
